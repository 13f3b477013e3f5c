package audio
import ("testing";"io";"os";"time";"fmt")
func TestZZ(t *testing.T){
	data,_:=os.ReadFile("/usr/share/asterisk/sounds/en_US_f_Allison/vm-intro.wav")
	for _,hz:=range []int{16000,24000,48000}{
		pcm,_:=DecodeAll(data,hz)
		sil:=make([]float32,len(pcm))
		noise:=make([]float32,len(pcm)); x:=uint32(1)
		for i:=range noise{ x=x*1664525+1013904223; noise[i]=(float32(x>>8)/(1<<24)-0.5)*0.002}
		for n,p:=range map[string][]float32{"voice":pcm,"silence":sil,"noise":noise}{
			best:=time.Hour
			var c counter
			for range 5 { c=counter{}; w,_:=NewOggOpusWriter(&c,hz,1,1); b:=time.Now(); w.Write(p); w.Close(); best=min(best,time.Since(b)) }
			sec:=float64(len(p))/float64(hz)
			fmt.Printf("%d %s %.3f %% of a core, %.1f kbit/s (%.1f s)\n",hz,n,100*best.Seconds()/sec, float64(c.n)*8/sec/1000,sec)
		}
		if hz==48000 { r,_:=NewResampler(16000,48000); p16,_:=DecodeAll(data,16000); b:=time.Now(); r.Process(nil,p16); fmt.Printf("resample 16->48 %.3f %%\n",100*time.Since(b).Seconds()/(float64(len(p16))/16000)) 
		r,_=NewResampler(48000,24000);  b=time.Now(); r.Process(nil,pcm); fmt.Printf("resample 48->24 %.3f %%\n",100*time.Since(b).Seconds()/(float64(len(pcm))/48000)) }
	}
	_=io.Discard
}
type counter struct{n int}
func (c *counter) Write(p []byte)(int,error){c.n+=len(p);return len(p),nil}
