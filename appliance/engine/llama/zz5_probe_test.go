package llama
import ("context";"fmt";"os";"testing";"time";"parley/appliance/engine")
func TestZZPace(t *testing.T) {
	m, err := Open(Options{LibraryDir: pack(t,"runtime-llama"), ModelPath: pack(t,os.Getenv("M"),"model.gguf"), Threads: 2}); if err!=nil{t.Fatal(err)}
	defer m.Close()
	m1, err := Open(Options{LibraryDir: pack(t,"runtime-llama"), ModelPath: pack(t,os.Getenv("M"),"model.gguf"), Threads: 1}); if err!=nil{t.Fatal(err)}
	defer m1.Close()
	p := engine.Prompt{Messages: []engine.Message{says(engine.System,sysP),says(engine.User,"Tell me all about the hotel, please.")}, MaxTokens: envi("G",40), Priority: engine.Live}
	for range 4 {
		for i, mm := range []*Model{m,m1} {
			q:=p; q.Conversation="x"; mm.Prefill(context.Background(), q)
			t0:=time.Now()
			u, err := mm.Generate(context.Background(), q, func(string) error {return nil}); if err!=nil{t.Fatal(err)}
			fmt.Printf("%s %.1f/s  ", []string{"pace","one"}[i], float64(u.ReplyTokens)/time.Since(t0).Seconds())
		}
		f, err := m.Straight(context.Background(), p, func(string){}); if err!=nil{t.Fatal(err)}
		fmt.Printf("straight2 %.1f/s\n", f.ReplyRate())
	}
}
