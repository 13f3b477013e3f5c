package llama
import ("context";"fmt";"os";"testing";"parley/appliance/engine")
const sysP = "You are the voice assistant of the Riverside Hotel. Answer in one or two short spoken sentences. Use only these facts. If the answer is not in the facts, say you do not know and offer to call the reception.\nFacts:\n- Reception is open 24 hours, on the ground floor, phone extension 0.\n- Breakfast is served from 7:00 to 10:30 in the restaurant on the second floor. It costs 15 dollars.\n- Check-in is from 3 pm. Check-out is until 11 am. Late check-out until 2 pm costs 20 dollars.\n- The swimming pool is on the fifth floor and open from 8 am to 9 pm. Towels are free.\n- Pets are allowed for 10 dollars per night.\n- Parking is in the basement and costs 12 dollars per night."
func TestZZTalk(t *testing.T) {
	packs := os.Getenv("HOME")+"/.cache/parley/packs/"
	m, err := Open(Options{LibraryDir: packs+"runtime-llama", ModelPath: packs+os.Getenv("M")+"/model.gguf"}); if err!=nil {t.Fatal(err)}
	defer m.Close()
	fmt.Printf("%+v\n", m.Describe())
	if err:=m.Warm(context.Background());err!=nil{t.Fatal(err)}
	msgs := []engine.Message{{engine.System, sysP}}
	for _, q := range []string{"What time is breakfast?","Where can I park my car and how much is it?","Can I bring my dog?","Is there a sauna?"} {
		msgs = append(msgs, engine.Message{engine.User,q})
		out := ""
		u, err := m.Generate(context.Background(), engine.Prompt{Conversation:"a",Messages:msgs,Priority:engine.Live}, func(s string) error { out+=s; return nil})
		fmt.Printf("%q %+v %v\n", out, u, err)
		msgs = append(msgs, engine.Message{engine.Assistant,out})
	}
	fmt.Println(rss())
}
