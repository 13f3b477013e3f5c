// What draws charts, as a file of its own: a quarter of the console, which only the pages
// with charts fetch.
export { default } from "uplot";
