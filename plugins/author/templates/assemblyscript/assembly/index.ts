// A tool for Parley boxes.
import { tool, serve, setting, Json } from "./parley";

// Returns the answer for the assistant; errors are thrown.
tool("greet", (parameters: Json): string => {
  const who = parameters.get("who").text();
  if (who == "") throw new Error("who is missing");
  return setting("greeting") + ", " + who + ".";
});

serve();
