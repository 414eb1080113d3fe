/** How the page is built. `npx vite --config examples/chat/vite.config.ts` serves it too, without the host's API. */
import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

const built = (path: string): string => fileURLToPath(new URL(`../../dist/${path}`, import.meta.url));

export default defineConfig({
  root: fileURLToPath(new URL("./page", import.meta.url)),
  resolve: {
    // In this repository the package is not below node_modules; elsewhere its name is enough.
    alias: {
      "mcp-taskrail/react/styles.css": built("react/styles.css"),
      "mcp-taskrail/react": built("react/index.js"),
      "mcp-taskrail/approvals": built("approvals/index.js"),
    },
  },
  // The host's content security policy lets nothing in that stands in the page itself.
  build: { assetsInlineLimit: 0, modulePreload: { polyfill: false } },
});
