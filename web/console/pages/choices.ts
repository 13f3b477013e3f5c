import type {
  LanguageModelEntry,
  ReturnLanguageModels,
  ReturnPrompt,
  ReturnUserDefinedTool,
  ReturnVoice,
} from "../../rest";
import { everything, get } from "../api";

// Choices holds the records that a config may name.
export interface Choices {
  prompts: ReturnPrompt[];
  tools: ReturnUserDefinedTool[];
  voices: ReturnVoice[];
  models: LanguageModelEntry[];
}

export async function choices(): Promise<Choices> {
  const [prompts, tools, own, library, models] = await Promise.all([
    everything<ReturnPrompt>("/v0/evi/prompts", "prompts_page"),
    everything<ReturnUserDefinedTool>("/v0/evi/tools", "tools_page"),
    everything<ReturnVoice>("/v0/tts/voices", "voices_page", { provider: "CUSTOM_VOICE" }),
    everything<ReturnVoice>("/v0/tts/voices", "voices_page", { provider: "HUME_AI" }),
    get<ReturnLanguageModels>("/v0/evi/language-models"),
  ]);
  return { prompts, tools, voices: [...own, ...library], models: models.language_models };
}
