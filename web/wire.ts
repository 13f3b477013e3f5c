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

// A rectangle in a picture, in pixels from its top left corner.
export type BoundingBox = {
  h: number;
  w: number;
  x: number;
  y: number;
};

// Enables a tool of the box.
export type BuiltinToolConfig = {
  // Destinations are those of Transfer; the other tools have none.
  destinations?: Array<TransferDestination>;
  fallback_content?: string;
  name: "web_search" | "hang_up" | "transfer" | "send_digits";
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

// A face without its place in the picture.
export type FacemeshPrediction = {
  emotions: Array<NamedScore>;
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

// A NamedScore is the score, 0 to 1, of a feeling or another category.
export type NamedScore = {
  name: string;
  score: number;
};

// A stretch of a text, in characters (Unicode code points) from its beginning; End is exclusive.
export type PositionInterval = {
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

// The options of the face model.
export type PostedBatchFace = {
  descriptions?: PostedUnconfigurable;
  facs?: PostedUnconfigurable;
  // Frames of a video that are analysed, per second
  fps_pred?: number;
  // Groups the faces of a file by person
  identify_faces?: boolean;
  // Side of the box, in pixels
  min_face_size?: number;
  // Faces with a lower probability are left out, 0 to 1
  prob_threshold?: number;
  // Puts pictures of the faces into the artifacts
  save_faces?: boolean;
};

// The options of the language model.
export type PostedBatchLanguage = {
  granularity?: "word" | "sentence" | "utterance" | "passage" | "conversational_turn";
  identify_speakers?: boolean;
  sentiment?: PostedUnconfigurable;
  toxicity?: PostedUnconfigurable;
};

// The models that a job runs.
export type PostedBatchModels = {
  burst?: PostedUnconfigurable;
  face?: PostedBatchFace;
  facemesh?: PostedUnconfigurable;
  language?: PostedBatchLanguage;
  ner?: PostedBatchNER;
  prosody?: PostedBatchProsody;
};

// The options of the model that finds names.
export type PostedBatchNER = {
  identify_speakers?: boolean;
};

// The options of the prosody model.
export type PostedBatchProsody = {
  granularity?: "word" | "sentence" | "utterance" | "conversational_turn";
  identify_speakers?: boolean;
  // Takes the place of Granularity
  window?: PostedBatchWindow;
};

// A window that slides over the sound, in seconds.
export type PostedBatchWindow = {
  length?: number;
  step?: number;
};

// Enables a tool of the box.
export type PostedBuiltinToolConfig = {
  // Destinations are those of Transfer; the other tools have none.
  destinations?: Array<PostedTransferDestination>;
  fallback_content?: string;
  name: "web_search" | "hang_up" | "transfer" | "send_digits";
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

// A message to the socket that analyses media.
export type PostedStreamPayload = {
  // The medium: a picture, a sound or a video as base64, or a text.
  data?: string;
  // Requests the id of the stream.
  job_details?: boolean;
  // The models; default: those of the message before, and at first all.
  models?: PostedBatchModels;
  // Comes back in the answer.
  payload_id?: string;
  // Says that data is a text.
  raw_text?: boolean;
  // Forgets the sound of the messages before.
  reset_stream?: boolean;
  // How much sound is analysed together with that of the messages before it, in milliseconds.
  stream_window_ms?: number;
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

// Where the tool transfer may hand a call over to.
export type PostedTransferDestination = {
  // Attended has the box call the person first, say who calls, and connect the caller only if the person agrees.
  attended?: boolean;
  // By which the language model chooses it
  name: string;
  // RingSecs is how long an attended transfer rings until nobody counts as there.
  ring_secs?: number;
  // The number to call
  to: string;
};

// A model, or a part of one, that has no options.
export type PostedUnconfigurable = Record<string, unknown>;

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

// A sound of a voice without words.
export type StreamBurst = {
  emotions: Array<NamedScore>;
  time: TimeInterval;
};

// The answer to a payload that cannot be analysed.
export type StreamErrorMessage = {
  code:
    | "E0100"
    | "E0101"
    | "E0102"
    | "E0200"
    | "E0201"
    | "E0202"
    | "E0203"
    | "E0204"
    | "E0205"
    | "E0206"
    | "E0714"
    | "E0732"
    | "E0741"
    | "E0799"
    | "W0101"
    | "W0102"
    | "W0103"
    | "W0104"
    | "W0105";
  error: string;
  job_details?: StreamJobDetails;
  payload_id?: string;
};

// A face in a picture or a video.
export type StreamFace = {
  bbox: BoundingBox;
  // Likewise
  descriptions?: Array<NamedScore>;
  emotions: Array<NamedScore>;
  // "face_0"; "unknown" unless faces are identified
  face_id: string;
  // Empty if asked for: nothing measures them; else absent
  facs?: Array<NamedScore>;
  frame: number;
  prob: number;
  // Seconds
  time: number;
};

// Names the stream.
export type StreamJobDetails = {
  job_id: string;
};

// What a stretch of a text expresses.
export type StreamLanguage = {
  emotions: Array<NamedScore>;
  position: PositionInterval;
  // As in LanguagePrediction
  sentiment?: Array<NamedScore>;
  text: string;
  // Likewise
  toxicity?: Array<NamedScore>;
};

// The predictions of one model, or why there are none.
export type StreamModelFacemeshPrediction = {
  // Of the warning or the error
  code?:
    | "E0100"
    | "E0101"
    | "E0102"
    | "E0200"
    | "E0201"
    | "E0202"
    | "E0203"
    | "E0204"
    | "E0205"
    | "E0206"
    | "E0714"
    | "E0732"
    | "E0741"
    | "E0799"
    | "W0101"
    | "W0102"
    | "W0103"
    | "W0104"
    | "W0105";
  // The model does not apply to the medium
  error?: string;
  // May be empty
  predictions: Array<FacemeshPrediction>;
  warning?: string;
};

// The answer to a payload: the predictions of each model that was asked for.
export type StreamModelPredictions = {
  burst?: StreamModelStreamBurst;
  code?:
    | "E0100"
    | "E0101"
    | "E0102"
    | "E0200"
    | "E0201"
    | "E0202"
    | "E0203"
    | "E0204"
    | "E0205"
    | "E0206"
    | "E0714"
    | "E0732"
    | "E0741"
    | "E0799"
    | "W0101"
    | "W0102"
    | "W0103"
    | "W0104"
    | "W0105";
  face?: StreamModelStreamFace;
  facemesh?: StreamModelFacemeshPrediction;
  job_details?: StreamJobDetails;
  language?: StreamModelStreamLanguage;
  payload_id?: string;
  prosody?: StreamModelStreamProsody;
  // Warning and Code repeat the first warning of a model if no model has predictions.
  warning?: string;
};

// The predictions of one model, or why there are none.
export type StreamModelStreamBurst = {
  // Of the warning or the error
  code?:
    | "E0100"
    | "E0101"
    | "E0102"
    | "E0200"
    | "E0201"
    | "E0202"
    | "E0203"
    | "E0204"
    | "E0205"
    | "E0206"
    | "E0714"
    | "E0732"
    | "E0741"
    | "E0799"
    | "W0101"
    | "W0102"
    | "W0103"
    | "W0104"
    | "W0105";
  // The model does not apply to the medium
  error?: string;
  // May be empty
  predictions: Array<StreamBurst>;
  warning?: string;
};

// The predictions of one model, or why there are none.
export type StreamModelStreamFace = {
  // Of the warning or the error
  code?:
    | "E0100"
    | "E0101"
    | "E0102"
    | "E0200"
    | "E0201"
    | "E0202"
    | "E0203"
    | "E0204"
    | "E0205"
    | "E0206"
    | "E0714"
    | "E0732"
    | "E0741"
    | "E0799"
    | "W0101"
    | "W0102"
    | "W0103"
    | "W0104"
    | "W0105";
  // The model does not apply to the medium
  error?: string;
  // May be empty
  predictions: Array<StreamFace>;
  warning?: string;
};

// The predictions of one model, or why there are none.
export type StreamModelStreamLanguage = {
  // Of the warning or the error
  code?:
    | "E0100"
    | "E0101"
    | "E0102"
    | "E0200"
    | "E0201"
    | "E0202"
    | "E0203"
    | "E0204"
    | "E0205"
    | "E0206"
    | "E0714"
    | "E0732"
    | "E0741"
    | "E0799"
    | "W0101"
    | "W0102"
    | "W0103"
    | "W0104"
    | "W0105";
  // The model does not apply to the medium
  error?: string;
  // May be empty
  predictions: Array<StreamLanguage>;
  warning?: string;
};

// The predictions of one model, or why there are none.
export type StreamModelStreamProsody = {
  // Of the warning or the error
  code?:
    | "E0100"
    | "E0101"
    | "E0102"
    | "E0200"
    | "E0201"
    | "E0202"
    | "E0203"
    | "E0204"
    | "E0205"
    | "E0206"
    | "E0714"
    | "E0732"
    | "E0741"
    | "E0799"
    | "W0101"
    | "W0102"
    | "W0103"
    | "W0104"
    | "W0105";
  // The model does not apply to the medium
  error?: string;
  // May be empty
  predictions: Array<StreamProsody>;
  warning?: string;
};

// How a voice sounds in a stretch of sound.
export type StreamProsody = {
  emotions: Array<NamedScore>;
  time: TimeInterval;
};

// A stretch of a sound, in seconds from its beginning.
export type TimeInterval = {
  begin: number;
  end: number;
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

// Where the tool transfer may hand a call over to.
export type TransferDestination = {
  // Attended has the box call the person first, say who calls, and connect the caller only if the person agrees.
  attended: boolean;
  // By which the language model chooses it
  name: string;
  // RingSecs is how long an attended transfer rings until nobody counts as there.
  ring_secs: number;
  // The number to call
  to: string;
};

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
