// Puts the style sheets of src beside the modules that the compiler wrote. Run after it.
import { cpSync } from "node:fs";

cpSync("src/react/styles.css", "dist/react/styles.css");
