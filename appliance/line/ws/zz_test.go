package ws
import ("testing";"os";"time";"context";"parley/appliance/contract";"log")
func TestZZ(t *testing.T){ b:=start(t,Timing{}); os.WriteFile("/tmp/h6_url",[]byte(b.http.URL),0o644)
 end:=time.After(25*time.Second)
 for { select { case s:=<-b.opened: go func(){ for m:=range s.got { switch v:=m.(type){ case heard: log.Printf("heard %d",len(v)); s.Line.Send(context.Background(), contract.AudioOutput{ID:"a",Data:v}); case contract.ClientMessage: log.Printf("%+v",v); if u,ok:=v.(contract.UserInput);ok&&u.Text=="bye"{s.Line.Close(1000,"bye"); s.end(); return} } } }()
 case <-end: return } } }
