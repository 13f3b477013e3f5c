package llama
import ("context";"fmt";"os";"testing";"time";"sync";"slices";"parley/appliance/engine")
func TestZZBench(t *testing.T) {
	t0:=time.Now()
	m, err := Open(Options{LibraryDir: pack(t,"runtime-llama"), ModelPath: pack(t,os.Getenv("M"),"model.gguf"), Threads: envi("TH",1)}); if err!=nil{t.Fatal(err)}
	defer m.Close()
	fmt.Println(os.Getenv("M"), "open", time.Since(t0)); t0=time.Now()
	m.Warm(context.Background()); fmt.Println("warm", time.Since(t0), rss())
	p := engine.Prompt{Messages: []engine.Message{says(engine.System,sysP),says(engine.User,"Tell me all about the hotel, please.")}, MaxTokens: envi("G",24), Priority: engine.Live}
	var ra, rb []float64
	for range envi("REP",3) {
		c0:=cpu(); t0=time.Now()
		f, err := m.Straight(context.Background(), p, func(string){}); if err!=nil{t.Fatal(err)}
		cs:=since(c0)
		c0=cpu(); t0=time.Now()
		u, err := m.Generate(context.Background(), p, func(string) error {return nil}); if err!=nil{t.Fatal(err)}
		tot:=time.Since(t0); cg:=since(c0)
		fmt.Printf("straight: prompt %.0f/s reply %.1f/s cpu %v | engine: prompt %.0f/s reply %.1f/s cpu %v\n", f.PromptRate(), f.ReplyRate(), cs, float64(u.PromptTokens)/u.FirstToken.Seconds(), float64(u.ReplyTokens-1)/(tot-u.FirstToken).Seconds(), cg)
		ra=append(ra, tot.Seconds()/f.Total.Seconds()); rb=append(rb, cg.Seconds()/cs.Seconds())
	}
	slices.Sort(ra); slices.Sort(rb)
	fmt.Println("wall ratio", ra[len(ra)/2], "cpu ratio", rb[len(rb)/2])
	for _, n := range []int{1,2,4} {
		for i := range n { q:=p; q.Conversation=fmt.Sprint(i); m.Prefill(context.Background(), q) }
		c0:=cpu(); t0=time.Now(); var wg sync.WaitGroup; var mu sync.Mutex; tok:=0
		for i := range n { wg.Go(func(){ q:=p; q.Conversation=fmt.Sprint(i); u,_:=m.Generate(context.Background(), q, func(string) error {return nil}); mu.Lock(); tok+=u.ReplyTokens; mu.Unlock() }) }
		wg.Wait()
		fmt.Printf("%d seqs: %.1f tok/s wall, %.1f tok/cpu-s, %s\n", n, float64(tok)/time.Since(t0).Seconds(), float64(tok)/since(c0).Seconds(), rss())
	}
	q:=p; q.Conversation="k"; u,_:=m.Generate(context.Background(), q, func(string) error {return nil})
	fmt.Printf("shared prefix: %+v\n", u)
	q.Messages=append(q.Messages, says(engine.Assistant,"It is nice."), says(engine.User,"And what does the breakfast cost?")); q.MaxTokens=3
	u,_=m.Generate(context.Background(), q, func(string) error {return nil})
	fmt.Printf("kept: %+v\n", u)
}
