package llama

import ("fmt";"syscall";"log/slog";"os";"strconv";"strings";"testing";"time")

func rss() string { b,_:=os.ReadFile("/proc/self/status"); var o []string; for _,l:=range strings.Split(string(b),"\n"){ if strings.HasPrefix(l,"VmRSS")||strings.HasPrefix(l,"VmHWM")||strings.HasPrefix(l,"RssAnon")||strings.HasPrefix(l,"RssFile"){o=append(o,strings.Join(strings.Fields(l)[:2],""))}}; return strings.Join(o," ")}
func envi(k string, d int) int { if v,err:=strconv.Atoi(os.Getenv(k));err==nil{return v}; return d}

func TestZZProbe(t *testing.T) {
	packs := os.Getenv("HOME")+"/.cache/parley/packs/"
	lg := slog.New(slog.DiscardHandler)
	if os.Getenv("LLOG")!="" { lg = slog.New(slog.NewTextHandler(os.Stderr,&slog.HandlerOptions{Level:slog.LevelDebug})) }
	l, err := load(packs+"runtime-llama", lg); if err!=nil {t.Fatal(err)}
	t0:=cpu()
	mp := l.modelDefaultParams(); mp.gpuLayers=0; mp.loadMode=int32(envi("LM",-1)); mp.repack = envi("REPACK",1)==1
	m := l.modelLoadFromFile(packs+os.Getenv("M")+"/model.gguf", mp); if m==0 {t.Fatal(l.why())}
	ld:=since(t0)
	cp := l.contextDefaultParams(); cp.ctx=uint32(envi("CTX",8192)); cp.batch=uint32(envi("B",512)); cp.microBatch=uint32(envi("UB",512)); cp.seqMax=8; cp.outputsMax=8; cp.unifiedKV=true
	cp.threads=int32(envi("TH",2)); cp.threadsBatch=cp.threads; cp.flash=int32(envi("FA",-1))
	c := l.initFromModel(m, cp); if c==0 {t.Fatal(l.why())}
	fmt.Println("load", ld, "ctx", since(t0)-ld, rss())
	chunk := int32(envi("CH",64)); N:=int32(envi("N",512))
	mem:=l.getMemory(c)
	b := l.batchInit(512,0,1)
	_ = b
	toks := make([]Token, 512); for i:=range toks { toks[i]=Token(1000+i*7%3000) }
	for rep:=0;rep<envi("REP",2);rep++ {
		l.memorySeqRm(mem,-1,-1,-1)
		t1:=cpu()
		for i:=int32(0);i<N;i+=chunk { if r:=l.decode(c, l.batchGetOne(&toks[i],chunk)); r!=0 {t.Fatal(r)} }
		dp:=since(t1)
		t2:=cpu()
		G:=envi("G",32)
		for i:=0;i<G;i++ { tk:=toks[i]; if r:=l.decode(c,l.batchGetOne(&tk,1)); r!=0 {t.Fatal(r)} }
		dg:=since(t2)
		fmt.Printf("chunk %d: prompt %.0f tok/s gen %.1f tok/s %s\n",chunk,float64(N)/dp.Seconds(),float64(G)/dg.Seconds(),rss())
	}
}

func cpu() time.Duration { var r syscall.Rusage; syscall.Getrusage(0,&r); return time.Duration(r.Utime.Nano()+r.Stime.Nano()) }
func since(d time.Duration) time.Duration { return cpu()-d }
