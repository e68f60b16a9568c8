/** Starts the console: the sign-in code leaves the address first, then the router may read it. */
import "./content-policy.ts";
import "./ui/tokens.css";
import "./ui/base.css";
import "./ui/button.css";
import "./ui/table.css";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { createQueryClient } from "./api/query-client.ts";
import { takeSignInCode } from "./api/session.ts";
import { createConsoleRouter } from "./routes.tsx";
import { restoreTheme } from "./ui/theme.ts";

takeSignInCode();
restoreTheme();

const router = createConsoleRouter();
const client = createQueryClient();

createRoot(document.getElementById("root")!).render(
  <StrictMode>
    <QueryClientProvider client={client}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
);
