// The pages of a hub, which are fetched when one of them is opened.
import "../shared";
export { BoxActs } from "../fleet/acts";
export { Boxes } from "../fleet/boxes";
export { Rollouts } from "../fleet/rollouts";

declare const BUILD: string;

// build is the build of this script: see later.tsx.
export const build = BUILD;
