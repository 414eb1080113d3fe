/** Owns the version that the client says of itself; a test holds it to package.json. */
export const VERSION = "0.1.0";
