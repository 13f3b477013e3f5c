// Code generated from the description of the messages; DO NOT EDIT. See web/bundle.

// Marks the end of an answer.
export type AssistantEnd = {
  custom_session_id?: string;
  type: "assistant_end";
};

// About one sentence of an answer.
export type AssistantMessage = {
  custom_session_id?: string;
  // The client provided the words
  from_text: boolean;
  id?: string;
  is_quick_response: boolean;
  // BCP 47
  language?: string;
  message: ChatMessage;
  models: Inference;
  type: "assistant_message";
};

// The expression of the AssistantMessage with the same ID.
export type AssistantProsody = {
  custom_session_id?: string;
  id?: string;
  models: Inference;
  type: "assistant_prosody";
};

// The format of the headerless audio that the client sends.
export type AudioConfiguration = {
  channels: number;
  codec?: string;
  encoding: "linear16";
  // Hz
  sample_rate: number;
};

// One clip of speech: a complete WAV file of 48 kHz, 16-bit, mono.
export type AudioOutput = {
  custom_session_id?: string;
  // Base64 on the wire
  data: string;
  id: string;
  index: number;
  type: "audio_output";
};

// Enables a tool of the box.
export type BuiltinToolConfig = {
  fallback_content?: string;
  name: "web_search" | "hang_up";
};

// One entry of the transcript.
export type ChatMessage = {
  content?: string;
  role: "assistant" | "system" | "user" | "all" | "tool" | "context";
  tool_call?: ToolCallMessage;
  tool_result?: ToolResult;
};

// The first message of every chat.
export type ChatMetadata = {
  chat_group_id: string;
  chat_id: string;
  custom_session_id?: string;
  request_id?: string;
  type: "chat_metadata";
};

// Text that the language model receives with the user's messages; it is not part of the transcript.
export type Context = {
  text: string;
  type?: "persistent" | "temporary" | "editable";
};

// How much of each, 0 to 1. All of them are always there.
export type EmotionScores = {
  Admiration: number;
  Adoration: number;
  "Aesthetic Appreciation": number;
  Amusement: number;
  Anger: number;
  Anxiety: number;
  Awe: number;
  Awkwardness: number;
  Boredom: number;
  Calmness: number;
  Concentration: number;
  Confusion: number;
  Contemplation: number;
  Contempt: number;
  Contentment: number;
  Craving: number;
  Desire: number;
  Determination: number;
  Disappointment: number;
  Disgust: number;
  Distress: number;
  Doubt: number;
  Ecstasy: number;
  Embarrassment: number;
  "Empathic Pain": number;
  Entrancement: number;
  Envy: number;
  Excitement: number;
  Fear: number;
  Guilt: number;
  Horror: number;
  Interest: number;
  Joy: number;
  Love: number;
  Nostalgia: number;
  Pain: number;
  Pride: number;
  Realization: number;
  Relief: number;
  Romance: number;
  Sadness: number;
  Satisfaction: number;
  Shame: number;
  "Surprise (negative)": number;
  "Surprise (positive)": number;
  Sympathy: number;
  Tiredness: number;
  Triumph: number;
};

// What the expression models measured; {} if nothing was measured.
export type Inference = {
  prosody?: ProsodyInference;
};

// A part of the chat, in ms since it began.
export type MillisecondInterval = {
  begin: number;
  end: number;
};

// Text that the assistant speaks as it is.
export type PostedAssistantInput = {
  custom_session_id?: string;
  text: string;
  type: "assistant_input";
};

// The format of the headerless audio that the client sends.
export type PostedAudioConfiguration = {
  channels: number;
  codec?: string;
  encoding: "linear16";
  // Hz
  sample_rate: number;
};

// Sound of the microphone: bytes of a container as a browser's MediaRecorder makes it, cut anywhere, or the headerless
// PCM that session settings announced.
export type PostedAudioInput = {
  custom_session_id?: string;
  // Base64 on the wire
  data: string;
  type: "audio_input";
};

// Enables a tool of the box.
export type PostedBuiltinToolConfig = {
  fallback_content?: string;
  name: "web_search" | "hang_up";
};

// Text that the language model receives with the user's messages; it is not part of the transcript.
export type PostedContext = {
  text: string;
  type?: "persistent" | "temporary" | "editable";
};

// Keeps the assistant silent until a resume_assistant_message.
export type PostedPauseAssistantMessage = {
  custom_session_id?: string;
  type: "pause_assistant_message";
};

// A message to the socket that speaks text as it arrives.
export type PostedPublishTTS = {
  // Flushes, and then closes the socket.
  close?: boolean;
  // As in a PostedUtterance, for the text of this message; a voice also applies to later messages.
  description?: string;
  // Speaks all text received so far, complete sentences or not.
  flush?: boolean;
  speed?: number;
  // The text; each sentence is spoken once it is complete.
  text?: string;
  trailing_silence?: number;
  voice?: PostedVoiceRef;
};

// Lets the assistant answer again.
export type PostedResumeAssistantMessage = {
  custom_session_id?: string;
  type: "resume_assistant_message";
};

// Change a live chat; they are merged field by field into the settings in force.
export type PostedSessionSettings = {
  audio?: PostedAudioConfiguration;
  builtin_tools?: Array<PostedBuiltinToolConfig>;
  context?: PostedContext;
  custom_session_id?: string;
  language_model_api_key?: string;
  metadata?: Record<string, unknown>;
  system_prompt?: string;
  tools?: Array<PostedTool>;
  type: "session_settings";
  variables?: Record<string, unknown>;
  voice_id?: string;
};

// A tool that the developer runs.
export type PostedTool = {
  description?: string;
  fallback_content?: string;
  name: string;
  // JSON schema as text
  parameters: string;
  type: "function";
};

// Reports that a tool failed.
export type PostedToolErrorMessage = {
  code?: string;
  content?: string;
  custom_session_id?: string;
  error: string;
  level?: "warn";
  tool_call_id: string;
  tool_type?: "builtin" | "function";
  type: "tool_error";
};

// The result of a tool.
export type PostedToolResponseMessage = {
  content: string;
  custom_session_id?: string;
  tool_call_id: string;
  tool_name?: string;
  tool_type?: "builtin" | "function";
  type: "tool_response";
};

// Text that counts as said by the user.
export type PostedUserInput = {
  custom_session_id?: string;
  text: string;
  type: "user_input";
};

// Refers to a voice by its id or its name.
export type PostedVoiceRef = {
  id?: string;
  name?: string;
  provider?: "HUME_AI" | "CUSTOM_VOICE";
};

// The expression of a voice.
export type ProsodyInference = {
  scores: EmotionScores;
};

// Change a live chat; they are merged field by field into the settings in force.
export type SessionSettings = {
  audio?: AudioConfiguration;
  builtin_tools?: Array<BuiltinToolConfig>;
  context?: Context;
  custom_session_id?: string;
  language_model_api_key?: string;
  metadata?: Record<string, unknown>;
  system_prompt?: string;
  tools?: Array<Tool>;
  type: "session_settings";
  variables?: Record<string, unknown>;
  voice_id?: string;
};

// A piece of the sound of a snippet.
export type SnippetAudioChunk = {
  // Base64
  audio: string;
  audio_format: "mp3" | "pcm" | "wav";
  // Counts the chunks of the snippet from 0
  chunk_index: number;
  // Code, Error, Slug and Message are set for an error on a socket only.
  code?:
    | "E0100"
    | "E0101"
    | "E0103"
    | "E0200"
    | "E0201"
    | "E0300"
    | "E0301"
    | "E0702"
    | "E0704"
    | "E0705"
    | "E0706"
    | "E0708"
    | "E0709"
    | "E0710"
    | "E0711"
    | "E0712"
    | "E0713"
    | "E0714"
    | "E0715"
    | "E0716"
    | "E0717"
    | "E0718"
    | "E0719"
    | "E0720"
    | "E0723"
    | "E0730"
    | "E0731"
    | "E0732"
    | "E0733"
    | "E0740"
    | "E0741"
    | "E0799";
  error?: string;
  generation_id: string;
  // Of the snippet
  is_last_chunk: boolean;
  message?: string;
  request_id: string;
  slug?: string;
  snippet_id: string;
  // Of the snippet
  text: string;
  // What the box's transcriber recognized in the snippet; absent in instant mode.
  transcribed_text?: string;
  type: "audio";
  utterance_index: number;
};

// When a word, as written, or a phoneme is heard, in ms since the beginning of its generation.
export type Timestamp = {
  text: string;
  time: MillisecondInterval;
  type: "word" | "phoneme";
};

// When a word or a phoneme of a snippet is heard.
export type TimestampMessage = {
  generation_id: string;
  request_id: string;
  snippet_id: string;
  timestamp: Timestamp;
  type: "timestamp";
};

// A tool that the developer runs.
export type Tool = {
  description?: string;
  fallback_content?: string;
  name: string;
  // JSON schema as text
  parameters: string;
  type: "builtin" | "function";
};

// Requests a tool call or, with ResponseRequired false, reports that the box is calling a tool itself.
export type ToolCallMessage = {
  custom_session_id?: string;
  name: string;
  // JSON as text
  parameters: string;
  response_required: boolean;
  tool_call_id: string;
  tool_type: "builtin" | "function";
  type: "tool_call";
};

// Reports that a tool failed.
export type ToolErrorMessage = {
  code?: string;
  content?: string;
  custom_session_id?: string;
  error: string;
  level?: "warn";
  tool_call_id: string;
  tool_type?: "builtin" | "function";
  type: "tool_error";
};

// The result of a tool.
export type ToolResponseMessage = {
  content: string;
  custom_session_id?: string;
  tool_call_id: string;
  tool_name?: string;
  tool_type?: "builtin" | "function";
  type: "tool_response";
};

// The result of a tool call: one of the two is set.
export type ToolResult = ToolResponseMessage | ToolErrorMessage;

// Reports that the user interrupted the answer, which has ended.
export type UserInterruption = {
  custom_session_id?: string;
  // Unix milliseconds
  time: number;
  type: "user_interruption";
};

// What the user said or typed: once per turn with Interim false, and before that, on request, interim transcripts.
export type UserMessage = {
  custom_session_id?: string;
  // Part of it was typed
  from_text: boolean;
  interim: boolean;
  // BCP 47
  language?: string;
  message: ChatMessage;
  models: Inference;
  time: MillisecondInterval;
  type: "user_message";
};

// An error.
export type WebSocketError = {
  code:
    | "E0100"
    | "E0101"
    | "E0103"
    | "E0200"
    | "E0201"
    | "E0300"
    | "E0301"
    | "E0702"
    | "E0704"
    | "E0705"
    | "E0706"
    | "E0708"
    | "E0709"
    | "E0710"
    | "E0711"
    | "E0712"
    | "E0713"
    | "E0714"
    | "E0715"
    | "E0716"
    | "E0717"
    | "E0718"
    | "E0719"
    | "E0720"
    | "E0723"
    | "E0730"
    | "E0731"
    | "E0732"
    | "E0733"
    | "E0740"
    | "E0741"
    | "E0799";
  custom_session_id?: string;
  message: string;
  request_id?: string;
  slug: string;
  type: "error";
};

export type ClientMessage =
  | PostedAudioInput
  | PostedSessionSettings
  | PostedUserInput
  | PostedAssistantInput
  | PostedToolResponseMessage
  | PostedToolErrorMessage
  | PostedPauseAssistantMessage
  | PostedResumeAssistantMessage;

export type ServerMessage =
  | ChatMetadata
  | UserMessage
  | AssistantMessage
  | AudioOutput
  | AssistantProsody
  | AssistantEnd
  | UserInterruption
  | ToolCallMessage
  | ToolResponseMessage
  | ToolErrorMessage
  | SessionSettings
  | WebSocketError;
