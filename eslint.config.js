import tseslint from "typescript-eslint";

const clockRule = {
  "no-restricted-globals": [
    "error",
    { name: "setTimeout", message: "Every wait goes through Clock (src/internal/clock.ts)." },
    { name: "setInterval", message: "Every wait goes through Clock (src/internal/clock.ts)." },
    { name: "setImmediate", message: "Every wait goes through Clock (src/internal/clock.ts)." },
  ],
  "no-restricted-properties": [
    "error",
    { object: "Date", property: "now", message: "Ask the Clock." },
    { object: "Math", property: "random", message: "Ask the injected random source." },
    { object: "performance", property: "now", message: "Ask the Clock." },
    { object: "AbortSignal", property: "timeout", message: "Its timer cannot be replaced: use the Clock." },
  ],
};

export default tseslint.config(
  { ignores: ["dist/", "node_modules/", "coverage/", "test/fixtures/", ".tmp/"] },
  {
    files: ["**/*.{ts,tsx}"],
    extends: [...tseslint.configs.recommendedTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      "@typescript-eslint/no-floating-promises": "error",
      "@typescript-eslint/switch-exhaustiveness-check": [
        "error",
        { considerDefaultExhaustiveForUnions: true },
      ],
      "@typescript-eslint/no-explicit-any": "error",
      "@typescript-eslint/consistent-type-imports": "error",
      "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_", varsIgnorePattern: "^_" }],
      "@typescript-eslint/require-await": "off",
      "@typescript-eslint/prefer-promise-reject-errors": "off",
      "@typescript-eslint/only-throw-error": "off",
    },
  },
  {
    files: ["src/**/*.{ts,tsx}"],
    ignores: ["src/internal/clock.ts", "src/testing/**"],
    rules: clockRule,
  },
);
