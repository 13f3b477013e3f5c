package onnx
import ("testing";"context";"time";"parley/appliance/engine")
func TestZZ(t *testing.T){
 m:=openMoonshine(t)
 w,_:=m.work.get()
 pcm:=prompts(t)[140].pcm(t)
 for r:=0;r<3;r++{
 var tb,tr,tc time.Duration; n:=0
 s0:=time.Now()
 m.listen(w,pcm,40)
 enc:=time.Since(s0)
 id:=int64(1); s0=time.Now()
 for range 12 {
   g:=w.decoding
   a:=time.Now()
   if g.length==0||len(g.ids)!=1 {g.bindStep(1)}
   g.ids[0]=id
   wr,_:=g.bindPresent(g.length+1)
   b:=time.Now()
   g.call.Run()
   c:=time.Now()
   first:=g.length==0; g.length++
   g.carry(wr,first)
   id=argmax(g.logits)
   tb+=b.Sub(a); tr+=c.Sub(b); tc+=time.Since(c); n++
 }
 t.Log("enc",enc,"dec",time.Since(s0),"bind",tb/time.Duration(n),"run",tr/time.Duration(n),"carry+argmax",tc/time.Duration(n))
 w.end()
 }
 _ = context.Background; _ = engine.Live
 w.Close()
}
