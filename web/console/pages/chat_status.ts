import type { FoundChat } from "../../rest";

// statuses are how a chat ended, in words, and how that looks.
export const statuses: Record<FoundChat["status"], [string, string]> = {
  ACTIVE: ["goes on", "tag"],
  USER_ENDED: ["ended", "tag plain"],
  USER_TIMEOUT: ["the user was away", "tag plain"],
  MAX_DURATION_TIMEOUT: ["took its time", "tag warn"],
  INACTIVITY_TIMEOUT: ["nobody spoke", "tag plain"],
  ERROR: ["failed", "tag bad"],
};
