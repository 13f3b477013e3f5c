// Draws charts. This is a separate file because it is a quarter of the console's code and only pages with charts need
// it.
export { default } from "uplot";
