import type { PageProps } from "../page";
import { SetUp } from "../set_up";

// SetUpPage sets the box up for an operator who has signed in with a link.
export function SetUpPage(_: PageProps) {
  return <SetUp operator />;
}
