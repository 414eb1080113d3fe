/** Owns building the page: from `page/` into a folder, by Vite. */
import { fileURLToPath } from "node:url";
import { build } from "vite";

/** Resolves once the folder holds the page. Rejects with what Vite says. */
export async function buildPage(outDir: string): Promise<void> {
  await build({
    root: fileURLToPath(new URL("./page", import.meta.url)),
    configFile: fileURLToPath(new URL("./vite.config.ts", import.meta.url)),
    build: { outDir, emptyOutDir: true },
    // Vite would warn of "use client", which is for frameworks that render on a server.
    logLevel: "error",
  });
}
