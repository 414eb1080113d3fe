import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.{ts,tsx}"],
    globalSetup: [],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // Two cores in CI: processes that tests start need one of them.
    maxWorkers: 2,
  },
});
