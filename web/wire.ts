// Code generated from the description of the messages; DO NOT EDIT. See web/bundle.

// Says that all of an answer has been sent.
export type AssistantEnd = {
  custom_session_id?: string;
  type: "assistant_end";
};

// One sentence or so of an answer.
export type AssistantMessage = {
  custom_session_id?: string;
  // The client gave the words
  from_text: boolean;
  id?: string;
  is_quick_response: boolean;
  // BCP 47
  language?: string;
  message: ChatMessage;
  models: Inference;
  type: "assistant_message";
};

// Says which feelings are in the AssistantMessage with the same ID.
export type AssistantProsody = {
  custom_session_id?: string;
  id?: string;
  models: Inference;
  type: "assistant_prosody";
};

// Describes the headerless audio that the client sends.
export type AudioConfiguration = {
  channels: number;
  codec?: string;
  encoding: "linear16";
  // Hz
  sample_rate: number;
};

// One clip of speech: a complete WAV file of OutputRateHz, 16-bit, mono.
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

// Text that is given to the language model with the user's messages and is no part of the transcript.
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

// What the expression models measured; {} when nothing was.
export type Inference = {
  prosody?: ProsodyInference;
};

// A span of the chat, in ms since it began.
export type MillisecondInterval = {
  begin: number;
  end: number;
};

// Text for the assistant to speak as it stands.
export type PostedAssistantInput = {
  custom_session_id?: string;
  text: string;
  type: "assistant_input";
};

// Describes the headerless audio that the client sends.
export type PostedAudioConfiguration = {
  channels: number;
  codec?: string;
  encoding: "linear16";
  // Hz
  sample_rate: number;
};

// Carries what the microphone heard: bytes of a container as a browser's MediaRecorder makes it, cut anywhere, or of
// the headerless PCM that session settings announced.
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

// Text that is given to the language model with the user's messages and is no part of the transcript.
export type PostedContext = {
  text: string;
  type?: "persistent" | "temporary" | "editable";
};

// Makes the assistant silent until the matching resume.
export type PostedPauseAssistantMessage = {
  custom_session_id?: string;
  type: "pause_assistant_message";
};

// A message to a socket that speaks what it is sent.
export type PostedPublishTTS = {
  // Close flushes, and then closes the socket.
  close?: boolean;
  // Description, Speed, TrailingSilence and Voice are as in a PostedUtterance, and hold for the text of this message;
  // the voice for what follows, too.
  description?: string;
  // Flush has all text spoken that has come, whole sentences or not.
  flush?: boolean;
  speed?: number;
  // Text is spoken sentence by sentence, as soon as one is whole.
  text?: string;
  trailing_silence?: number;
  voice?: PostedVoiceRef;
};

// Lets the assistant answer again.
export type PostedResumeAssistantMessage = {
  custom_session_id?: string;
  type: "resume_assistant_message";
};

// Change how the chat goes on; they are merged field by field into what is in force.
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

// A tool that the developer answers.
export type PostedTool = {
  description?: string;
  fallback_content?: string;
  name: string;
  // JSON schema as text
  parameters: string;
  type: "function";
};

// Says that a tool failed.
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

// What a tool answered.
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

// Names a voice by its id or by its name.
export type PostedVoiceRef = {
  id?: string;
  name?: string;
  provider?: "HUME_AI" | "CUSTOM_VOICE";
};

// How a voice sounded.
export type ProsodyInference = {
  scores: EmotionScores;
};

// Change how the chat goes on; they are merged field by field into what is in force.
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
  // Code, Error, Slug and Message are of an error on a socket, and absent from what is spoken.
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
  // TranscribedText is what the box's own ear heard in the snippet; absent in instant mode.
  transcribed_text?: string;
  type: "audio";
  utterance_index: number;
};

// Says when a word, as it is written, or a phoneme is heard, in ms since the beginning of its generation.
export type Timestamp = {
  text: string;
  time: MillisecondInterval;
  type: "word" | "phoneme";
};

// Says when a word or a phoneme of a snippet is heard.
export type TimestampMessage = {
  generation_id: string;
  request_id: string;
  snippet_id: string;
  timestamp: Timestamp;
  type: "timestamp";
};

// A tool that the developer answers.
export type Tool = {
  description?: string;
  fallback_content?: string;
  name: string;
  // JSON schema as text
  parameters: string;
  type: "builtin" | "function";
};

// Asks for a tool, or, with ResponseRequired false, tells that the box itself is using one.
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

// Says that a tool failed.
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

// What a tool answered.
export type ToolResponseMessage = {
  content: string;
  custom_session_id?: string;
  tool_call_id: string;
  tool_name?: string;
  tool_type?: "builtin" | "function";
  type: "tool_response";
};

// How a tool call ended: one of the two is set.
export type ToolResult = ToolResponseMessage | ToolErrorMessage;

// Says that the user spoke into the answer, which is over.
export type UserInterruption = {
  custom_session_id?: string;
  // Unix milliseconds
  time: number;
  type: "user_interruption";
};

// What the user said or typed: once per turn with Interim false, and before that, if asked for, as it is understood so
// far.
export type UserMessage = {
  custom_session_id?: string;
  // Any part of it was typed
  from_text: boolean;
  interim: boolean;
  // BCP 47
  language?: string;
  message: ChatMessage;
  models: Inference;
  time: MillisecondInterval;
  type: "user_message";
};

// Says what went wrong; Code.Error makes one.
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
