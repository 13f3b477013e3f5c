package markup

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"parley/appliance/engine"
)

var weather = []engine.Tool{
	{Name: "get_weather", Parameters: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"},` +
		`"days":{"type":"integer"}}}`)},
	{Name: "hang_up"},
}

// pushed returns the result of a Filter for a reply cut at these positions.
func pushed(f *Filter, reply string, cuts ...int) string {
	var out strings.Builder
	from := 0
	for _, at := range append(cuts, len(reply)) {
		out.WriteString(f.Push(reply[from:at]))
		from = at
	}
	out.WriteString(f.Rest(true))
	return out.String()
}

var replies = []struct{ name, reply, spoken string }{
	{"plain", "Hello.", "Hello."},
	{"less than", "5 < 6, and a<b. I <3 you. x <- y", "5 < 6, and a<b. I <3 you. x <- y"},
	{"HTML", "Use <b>bold</b> or <br/> and <thin ice> [sic].", "Use <b>bold</b> or <br/> and <thin ice> [sic]."},
	{"a lone sign at the end", "It is 5 <", "It is 5 <"},
	{"quoted", "Write `<think>` first.", "Write `<think>` first."},
	{"details of HTML", "The <details> tag folds text.", "The <details> tag folds text."},
	{"struck out", "It was <s>ten</s> nine.", "It was ten nine."},
	{"Okay", "Okay, we open at ten.", "Okay, we open at ten."},
	{"I need", "I need your name, please.", "I need your name, please."},
	{"let me", "Let me see what we have.", "Let me see what we have."},
	{"a list", "[1] is the first. {x} is a set.", "[1] is the first. {x} is a set."},

	{"think", "<think>Hm, who?</think>\n\nHello.", "Hello."},
	{"think, empty", "\n<think></think>Hi", "Hi"},
	{"think, closed at once", "<think/>Hi", "Hi"},
	{"twice", "<think>a</think><think>b</think>Done", "Done"},
	{"thinking", "<thinking>x</thinking>Hello.", "Hello."},
	{"THINK", "<THINK>\nx < y\n</THINK>\nHello.", "Hello."},
	{"reasoning", `<reasoning effort="low">x</reasoning>Hello.`, "Hello."},
	{"thought", "<thought>x</thought> Hello.", "Hello."},
	{"scratchpad", "<scratchpad>x</scratchpad>Hello.", "Hello."},
	{"details", `<details type="reasoning" done="true">` +
		"\n<summary>Thought for 3 s</summary>\n> x\n</details>\nHello.", "Hello."},
	{"Magistral", "[THINK]x[/THINK]Hello.", "Hello."},
	{"Kimi", "◁think▷x◁/think▷Hello.", "Hello."},
	{"Cohere", "<|START_THINKING|>x<|END_THINKING|><|START_RESPONSE|>Hello.<|END_RESPONSE|>", "Hello."},
	{"sky", "<|begin_of_thought|>x<|end_of_thought|>\n<|begin_of_solution|>Hello.<|end_of_solution|>", "Hello."},
	{"Gemma 4", "<|channel>thought\nx<channel|>Hello.<turn|>", "Hello."},
	{"seed", "<seed:think>x</seed:think>Hello.", "Hello."},
	{"answer", "<think>x</think><answer>Hello.</answer>", "Hello."},
	{"ends by another name", "<thinking>x</think>Hello.", "Hello."},
	{"spaces", "< think >x</ think >Hello.", "Hello."},
	{"a second one", "We open at ten. <think>Was it nine?</think> We close at six.",
		"We open at ten.  We close at six."},
	{"a second one without spaces", "We open at ten.<think>x</think>We close at six.",
		"We open at ten. We close at six."},
	{"nested", "<think>a<think>b</think>c</think>Hello.", "Hello."},
	{"a thought that speaks of the tag", "<think>In <think> I think.</think>Hello.", "Hello."},
	{"never ends", "<think>never ends", ""},
	{"a later one never ends", "Hello. <thinking>now what", "Hello. "},
	{"half an end", "<think>x</think>Hello.</thin", "Hello."},
	{"only an end", "The user asks when. I say ten.\n</think>\n\nAt ten.", "At ten."},
	{"only an end, okay", "Okay, so the user wants the hours. Ten.</think>At ten.", "At ten."},
	{"no end", "The user asks when we open. We open at ten.", "The user asks when we open. We open at ten."},
	{"the user of a thing", "The user manual says so.", "The user manual says so."},

	{"gpt-oss", "<|channel|>analysis<|message|>User asks.<|end|><|start|>assistant<|channel|>final<|message|>At " +
		"ten.<|return|>", "At ten."},
	{"gpt-oss without an end", "<|channel|>analysis<|message|>User asks.<|channel|>final<|message|>At ten.", "At ten."},
	{"gpt-oss, to somebody",
		"<|channel|>commentary<|message|>One moment.<|end|><|start|>assistant<|channel|>final<|message|>At ten.",
		"One moment. At ten."},
	{"gpt-oss, cut off", "<|channel|>analysis<|message|>User asks", ""},
	{"gpt-oss, markers taken out", "analysisThe user asks when.assistantfinalAt ten.", "At ten."},
	{"analysis as a word", "analysis of it takes an hour.", "analysis of it takes an hour."},

	{"Llama 3", "At ten.<|eot_id|>", "At ten."},
	{"Llama 3, header", "<|start_header_id|>assistant<|end_header_id|>\n\nAt ten.<|eot_id|>", "At ten."},
	{"Llama 3, another turn", "At ten.<|start_header_id|>user<|end_header_id|>\n\nWhy?", "At ten."},
	{"ChatML", "<|im_start|>assistant\nAt ten.<|im_end|>\n<|im_start|>user\nWhy?", "At ten."},
	{"Gemma", "<start_of_turn>model\nAt ten.<end_of_turn>\n<start_of_turn>user\nWhy?", "At ten."},
	{"Llama 2", "At ten.</s><s>[INST] Why? [/INST] So.", "At ten."},
	{"Llama 2, echo", "[INST] When? [/INST] At ten.", "At ten."},
	{"Mistral", "[/INST] At ten. [INST] Why?", "At ten. "},
	{"GPT-2", "At ten.<|endoftext|>Why", "At ten."},
	{"DeepSeek", "At ten.<｜end▁of▁sentence｜>Why", "At ten."},
	{"Phi", "At ten.<|end|>\n<|user|>\nWhy?<|end|>\n<|assistant|>\nSo.", "At ten."},
	{"Zephyr", "<|assistant|>\nAt ten.</s>", "At ten."},
	{"Granite", "<|start_of_role|>assistant<|end_of_role|>At ten.<|end_of_text|>", "At ten."},
	{"unknown", "At<|fim_pad|> ten<unused12>.<pad>", "At ten."},
	{"half a marker", "At ten.<|im_e", "At ten."},
	{"half a wide marker", "At ten.<｜end▁of", "At ten."},

	{"no such tool", `<tool_call>{"name":"order","arguments":{}}</tool_call>`, ""},
	{"no call", "One moment.<tool_call>oops</tool_call> Sorry.", "One moment. Sorry."},
	{"JSON", `{"name": "Ann", "age": 3} is an object.`, `{"name": "Ann", "age": 3} is an object.`},
	{"what a tool says", "<tool_response>{}</tool_response>It rains.", "It rains."},
}

// The result is the same however a reply is cut.
func TestFilterReturnsTheSpeakablePart(t *testing.T) {
	for _, c := range replies {
		for size := 1; size <= len(c.reply); size++ {
			var cuts []int
			for at := size; at < len(c.reply); at += size {
				cuts = append(cuts, at)
			}
			if got := pushed(New(weather, false), c.reply, cuts...); got != c.spoken {
				t.Errorf("%s, in pieces of %d bytes: %q, want %q", c.name, size, got, c.spoken)
				break
			}
		}
		for range 50 {
			at := rand.IntN(len(c.reply))
			if got := pushed(New(weather, false), c.reply, at); got != c.spoken {
				t.Errorf("%s, cut at %d: %q, want %q", c.name, at, got, c.spoken)
				break
			}
		}
	}
}

func TestCallsWrittenAsText(t *testing.T) {
	const city = `{"city":"Graz"}`
	for name, reply := range map[string]string{
		"Hermes": "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\":\"Graz\"}}\n" +
			"</tool_call>",
		"Hermes, no end": `<tool_call>{"name": "get_weather", "arguments": {"city":"Graz"}}`,
		"two": `<tool_call>{"name":"get_weather","arguments":{"city":"Graz"}}</tool_call><tool_call>` +
			`{"name":"hang_up"}</tool_call>`,
		"behind words":       `One moment. <tool_call>{"name":"get_weather","arguments":{"city":"Graz"}}</tool_call>`,
		"text of an object":  `<tool_call>{"name":"get_weather","arguments":"{\"city\":\"Graz\"}"}</tool_call>`,
		"Mistral, list":      `[TOOL_CALLS] [{"name":"get_weather","arguments":{"city":"Graz"},"id":"x"}]</s>`,
		"Mistral, name":      `[TOOL_CALLS]get_weather[CALL_ID]a1[ARGS]{"city":"Graz"}`,
		"Mistral, bare":      `[TOOL_CALLS]get_weather{"city":"Graz"}`,
		"Llama, function":    `<function=get_weather>{"city":"Graz"}</function>`,
		"Llama, python tag":  `<|python_tag|>{"name":"get_weather","parameters":{"city":"Graz"}}<|eom_id|>`,
		"Llama, python call": `<|python_tag|>get_weather.call(city="Graz")<|eom_id|>`,
		"Llama, JSON":        `{"name":"get_weather","parameters":{"city":"Graz"}}`,
		"OpenAI":             `{"type":"function","function":{"name":"get_weather","arguments":"{\"city\":\"Graz\"}"}}`,
		"pythonic":           `[get_weather(city='Graz')]`,
		"pythonic, bare":     `get_weather(city="Graz")`,
		"LFM2":               `<|tool_call_start|>[get_weather(city="Graz")]<|tool_call_end|>`,
		"Gemma 3":            "```tool_code\nprint(get_weather(city=\"Graz\"))\n```",
		"fenced":             "```json\n{\"name\":\"get_weather\",\"arguments\":{\"city\":\"Graz\"}}\n```",
		"FunctionGemma":      `<start_function_call>call:get_weather{city:<escape>Graz<escape>}<end_function_call>`,
		"Gemma 4":            `<|tool_call>call:get_weather{city:<|"|>Graz<|"|>}<tool_call|>`,
		"Qwen coder": "<tool_call>\n<function=get_weather>\n<parameter=city>\nGraz\n</parameter>\n" +
			"</function>\n</tool_call>",
		"GLM": "<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Graz</arg_value>\n" +
			"</tool_call>",
		"invoke": `<function_calls><invoke name="get_weather"><parameter ` +
			`name="city">Graz</parameter></invoke></function_calls>`,
		"MiniMax": `<minimax:tool_call><invoke name="get_weather"><parameter ` +
			`name="city">Graz</parameter></invoke></minimax:tool_call>`,
		"DeepSeek": "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather\n```json\n" +
			"{\"city\":\"Graz\"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
		"DeepSeek 3.1": `<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>{"city":"Graz"}` +
			`<｜tool▁call▁end｜><｜tool▁calls▁end｜>`,
		"Kimi": `<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0<|` +
			`tool_call_argument_begin|>{"city":"Graz"}<|tool_call_end|><|tool_calls_section_end|>`,
		"Granite": `<|tool_call|>[{"name":"get_weather","arguments":{"city":"Graz"}}]`,
		"Phi":     `functools[{"name":"get_weather","arguments":{"city":"Graz"}}]`,
		"Cohere": `<|START_ACTION|>[{"tool_call_id":"0","tool_name":"get_weather",` +
			`"parameters":{"city":"Graz"}}]<|END_ACTION|>`,
		"Nemotron": `<TOOLCALL>[{"name":"get_weather","arguments":{"city":"Graz"}}]</TOOLCALL>`,
		"gpt-oss": `<|channel|>analysis<|message|>x<|end|><|start|>assistant<|channel|>commentary ` +
			`to=functions.get_weather <|constrain|>json<|message|>{"city":"Graz"}<|call|>`,
		"gpt-oss, in front": `<|start|>assistant to=functions.get_weather<|channel|>commentary ` +
			`json<|message|>{"city":"Graz"}<|call|>`,
		"behind a thought": `<think>x</think>{"name":"get_weather","arguments":{"city":"Graz"}}`,
	} {
		for size := 1; size <= len(reply); size++ {
			f := New(weather, false)
			var cuts []int
			for at := size; at < len(reply); at += size {
				cuts = append(cuts, at)
			}
			spoken := strings.TrimSpace(pushed(f, reply, cuts...))
			c := f.Call()
			if c == nil || c.Name != "get_weather" || c.Arguments != city || c.ID == "" ||
				spoken != "" && spoken != "One moment." {
				t.Errorf("%s, in pieces of %d: said %q, call %+v", name, size, spoken, c)
				break
			}
			f = New(nil, false)
			if spoken := strings.TrimSpace(pushed(f, reply, cuts...)); name != "pythonic, bare" &&
				(f.Call() != nil || spoken != "" && spoken != "One moment.") {
				t.Errorf("%s, without tools: said %q, call %+v", name, spoken, f.Call())
				break
			}
		}
	}
}

func TestArgumentsHaveTheTypesThatTheToolAsksFor(t *testing.T) {
	for _, reply := range []string{
		"<function=get_weather><parameter=city>8010</parameter><parameter=days>3</parameter></function>",
		"[get_weather(city='8010', days=3)]",
		"<tool_call>get_weather<arg_key>city</arg_key><arg_value>8010</arg_value><arg_key>days</arg_key><arg_value>" +
			"3</arg_value></tool_call>",
	} {
		f := New(weather, false)
		if spoken := pushed(f, reply); spoken != "" || f.Call() == nil ||
			f.Call().Arguments != `{"city":"8010","days":3}` {
			t.Errorf("%q: said %q, call %+v", reply, spoken, f.Call())
		}
	}
}

// The first reply shows that a model's template opens its thoughts.
func TestAModelThatHasBegunToThinkIsHeldBack(t *testing.T) {
	f := New(nil, false)
	first := f.Push("Ten or nine? ") + f.Push("Ten.</think>At ten.")
	if !f.UnopenedThought() || !strings.HasSuffix(first, "At ten.") || strings.Contains(first, "think") {
		t.Errorf("said %q, opened %v", first, f.UnopenedThought())
	}
	f = New(nil, true)
	if spoken := f.Push("Ten or nine? ") + f.Push("Ten.</think>") + f.Push("At ten."); spoken != "At ten." {
		t.Errorf("said %q", spoken)
	}
	if spoken := pushed(New(nil, true), "At ten."); spoken != "At ten." {
		t.Errorf("without a thought: said %q", spoken)
	}
	f = New(nil, true)
	if spoken := f.Push("Ten or ni") + f.Rest(false); spoken != "" {
		t.Errorf("the reply after a truncated thought is %q", spoken)
	}
}

// For random sequences of markers and words, the result is the same however they are cut.
func FuzzFilter(f *testing.F) {
	for _, c := range replies {
		f.Add(c.reply, uint16(len(c.reply)/2), uint16(3))
	}
	f.Fuzz(func(t *testing.T, reply string, first, second uint16) {
		a, b := int(first)%(len(reply)+1), int(second)%(len(reply)+1)
		whole, cut := New(weather, false), New(weather, false)
		want := pushed(whole, reply)
		got := pushed(cut, reply, min(a, b), max(a, b))
		if got != want && !cut.UnopenedThought() && !whole.UnopenedThought() {
			t.Errorf("%q cut at %d and %d: %q, whole %q", reply, a, b, got, want)
		}
	})
}
