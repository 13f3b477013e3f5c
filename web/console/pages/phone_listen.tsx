import { useEffect, useRef, useState } from "preact/hooks";
import type { PhoneCall } from "../../rest";
import { Dialog } from "../parts/dialog";
import { Check } from "../parts/field";
import { type Heard, Listener } from "../talk/listener";
import { Transcript } from "../talk/transcript";
import { from } from "./phone_words";

// Listen shows what is said in a live call, and plays the assistant's voice.
export function Listen({ call, close }: { call: PhoneCall; close: () => void }) {
  const [heard, setHeard] = useState<Heard>({ said: [] });
  const [sound, setSound] = useState(true);
  const listener = useRef<Listener | null>(null);
  useEffect(() => {
    const l = new Listener(call.chat_id!, setHeard);
    listener.current = l;
    return () => l.stop();
  }, [call.chat_id]);
  return (
    <Dialog title={`Listening to ${from(call)}`} close={close} wide>
      <Transcript said={heard.said} you="Caller" />
      <Check
        label="Play the assistant's voice"
        value={sound}
        set={(yes) => {
          setSound(yes);
          listener.current?.mute(!yes);
        }}
      />
      <p role="status">{heard.over}</p>
      <div class="buttons">
        <button type="button" class="primary" onClick={close}>
          Close
        </button>
      </div>
    </Dialog>
  );
}
