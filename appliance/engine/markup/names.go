package markup

import "strings"

// thoughtNames are the tags around thoughts of Qwen, DeepSeek, GLM, Kimi, Hunyuan, Seed, Cohere and
// Gemma, and those that prompts ask other models to use.
var thoughtNames = []string{
	"analysis",
	"antthinking",
	"details",
	"inner_monologue",
	"inner_thought",
	"inner_thoughts",
	"internal_monologue",
	"internal_thoughts",
	"monologue",
	"reason",
	"reasoning",
	"reflect",
	"reflection",
	"scratchpad",
	"seed:think",
	"think",
	"thinking",
	"thinking_process",
	"thought",
	"thought_process",
	"thoughts",
}

// tags are the other tags, without brackets.
var tags = map[string]kind{
	"answer":                  dropped,
	"final":                   dropped,
	"final_answer":            dropped,
	"response":                dropped,
	"bos":                     dropped,
	"cls":                     dropped,
	"mask":                    dropped,
	"pad":                     dropped,
	"sep":                     dropped,
	"unk":                     dropped,
	"s":                       ending,
	"eos":                     ending,
	"eot":                     ending,
	"end_of_text":             ending,
	"end_of_turn":             ending,
	"end_of_utterance":        ending,
	"endoftext":               ending,
	"im_end":                  ending,
	"turn":                    ending, // <turn|>
	"im_start":                role,
	"start_of_turn":           role,
	"channel":                 thought, // <channel|>
	"function":                tool,
	"function_call":           tool,
	"function_calls":          tool,
	"functioncall":            tool,
	"invoke":                  tool,
	"longcat_tool_call":       tool,
	"minimax:tool_call":       tool,
	"seed:tool_call":          tool,
	"start_function_call":     tool,
	"end_function_call":       tool,
	"tool_call":               tool,
	"tool_calls":              tool,
	"tool_code":               tool,
	"tool_use":                tool,
	"toolcall":                tool,
	"toolcalls":               tool,
	"function_response":       result,
	"function_result":         result,
	"function_results":        result,
	"tool_output":             result,
	"tool_response":           result,
	"tool_result":             result,
	"tool_results":            result,
	"start_function_response": result,
}

func tagKind(name string) kind {
	for _, t := range thoughtNames {
		if name == t {
			return thought
		}
	}
	if unused, found := strings.CutPrefix(name, "unused"); found && strings.Trim(unused, "0123456789") == "" {
		return dropped // Gemma's
	}
	return tags[name]
}

// beginsTag reports whether letters may become the name of a tag.
func beginsTag(letters string) bool {
	for _, t := range thoughtNames {
		if strings.HasPrefix(t, letters) {
			return true
		}
	}
	for t := range tags {
		if strings.HasPrefix(t, letters) {
			return true
		}
	}
	unused, found := strings.CutPrefix(letters, "unused")
	return strings.HasPrefix("unused", letters) || found && strings.Trim(unused, "0123456789") == ""
}

// specials are the names between <| and |> that are not simply dropped.
var specials = map[string]kind{
	"/s":                ending,
	"call":              message,
	"end":               message,
	"end_of_sentence":   ending,
	"end_of_text":       ending,
	"end_of_turn":       ending,
	"end_of_turn_token": ending,
	"endofprompt":       ending,
	"endoftext":         ending,
	"endofturn":         ending,
	"eom_id":            ending,
	"eos":               ending,
	"eot":               ending,
	"eot_id":            ending,
	"human":             ending,
	"im_end":            ending,
	"observation":       ending,
	"return":            ending,
	"stop":              ending,
	"system":            ending,
	"turn":              role, // <|turn>
	"user":              ending,
	"im_start":          role,
	"start":             role,
	"start_header_id":   role,
	"header_start":      role,
	"start_of_role":     role,
	"start_of_turn":     role,
	"channel":           channel,
	"constrain":         headerGap,
	"end_header_id":     headerEnd,
	"end_of_role":       headerEnd,
	"header_end":        headerEnd,
	"im_middle":         headerEnd,
	"im_sep":            headerEnd,
	"message":           headerEnd,
}

// brackets are the markers in square brackets.
var brackets = []marker{
	{kind: ending, name: "inst", raw: "[INST]"},
	{
		kind:  result,
		name:  "inst",
		raw:   "[/INST]",
		close: true,
	},
	{kind: ending, raw: "[AVAILABLE_TOOLS]"},
	{kind: ending, raw: "[SYSTEM_PROMPT]"},
	{kind: thought, name: "think", raw: "[THINK]"},
	{
		kind:  thought,
		name:  "think",
		raw:   "[/THINK]",
		close: true,
	},
	{kind: thought, name: "think", raw: "[REASONING]"},
	{
		kind:  thought,
		name:  "think",
		raw:   "[/REASONING]",
		close: true,
	},
	{kind: tool, name: "tool_calls", raw: "[TOOL_CALLS]"},
	{
		kind:  tool,
		name:  "tool_calls",
		raw:   "[/TOOL_CALLS]",
		close: true,
	},
	{kind: tool, name: "tool_request", raw: "[TOOL_REQUEST]"},
	{
		kind:  tool,
		name:  "tool_request",
		raw:   "[END_TOOL_REQUEST]",
		close: true,
	},
	{kind: result, name: "tool_results", raw: "[TOOL_RESULTS]"},
	{
		kind:  result,
		name:  "tool_results",
		raw:   "[/TOOL_RESULTS]",
		close: true,
	},
}

// assistants are the roles whose messages belong to the reply.
var assistants = map[string]bool{
	"ai":        true,
	"assistant": true,
	"bot":       true,
	"chatbot":   true,
	"gpt":       true,
	"model":     true,
}
