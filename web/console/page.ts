import type { ComponentType } from "preact";
import type { ReturnOperator } from "../rest";
import type { Route } from "./route";

// What every page is given: who is signed in, and where the console is.
export interface PageProps {
  who: ReturnOperator;
  route: Route;
}

// A Page is one of the console. Its path is its address (#/talk) and the name of
// its file in pages/.
export interface Page {
  path: string;
  name: string;
  group: string;
  show: ComponentType<PageProps>;
}
