import type { FoundChat } from "../../rest";

// statuses maps the status of a chat to its label and CSS class.
export const statuses: Record<FoundChat["status"], [string, string]> = {
  ACTIVE: ["live", "tag"],
  USER_ENDED: ["ended", "tag plain"],
  USER_TIMEOUT: ["user away", "tag plain"],
  MAX_DURATION_TIMEOUT: ["time limit", "tag warn"],
  INACTIVITY_TIMEOUT: ["inactivity", "tag plain"],
  ERROR: ["failed", "tag bad"],
};
