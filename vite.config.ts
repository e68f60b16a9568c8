import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

// The console. The server serves dist/console, so a page may be asked for under any path of the router.
export default defineConfig({
  root: "src/console",
  base: "/",
  plugins: [react()],
  // One chunk: an operations console is opened to stay open, and 200 KB come over the wire once.
  build: { outDir: "../../dist/console", emptyOutDir: true, target: "es2022", chunkSizeWarningLimit: 700 },
});
