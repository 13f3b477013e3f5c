import type { ComponentType } from "preact";
import type { ReturnOperator } from "../rest";
import type { Route } from "./route";

// PageProps are given to every page: the signed-in user and the current route.
export interface PageProps {
  who: ReturnOperator;
  route: Route;
}

// A Page is a page of the console. Its path is both its address (#/talk) and the name of its file in pages/.
export interface Page {
  path: string;
  name: string;
  group: string;
  on?: "box" | "hub"; // it is there only on a box, or only on the hub of a fleet
  show: ComponentType<PageProps>;
}
