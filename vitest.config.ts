import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.{ts,tsx}"],
    globalSetup: [],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // Two cores in CI; but many tests wait for processes and intervals, not for a core.
    maxWorkers: 3,
  },
});
