// Why there is no microphone: the page came from another machine without https,
// somebody or a setting refuses it, or there is none that is free.
export type NoMicrophone = "insecure" | "refused" | "none";

// microphone asks the browser for the microphone, with echo cancellation and noise suppression.
export async function microphone(): Promise<MediaStream | NoMicrophone> {
  if (!navigator.mediaDevices) return "insecure"; // browsers offer this on secure pages only
  try {
    return await navigator.mediaDevices.getUserMedia({
      audio: { echoCancellation: true, noiseSuppression: true, autoGainControl: true },
    });
  } catch (err) {
    return err instanceof DOMException && (err.name === "NotAllowedError" || err.name === "SecurityError")
      ? "refused"
      : "none";
  }
}
