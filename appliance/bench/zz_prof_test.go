package bench
import ("testing";"context";"time";"os";"strings")
func TestZZProf(t *testing.T){
 s,err:=startAPI(t.Context(),t.TempDir()); if err!=nil{t.Fatal(err)}
 defer s.stop()
 if err:=s.fill(t.Context());err!=nil{t.Fatal(err)}
 for _,row:=range s.rows(){ if !strings.Contains(os.Getenv("ROWS"),row.name){continue}
  r,_,err:=s.rate(t.Context(),2500*time.Millisecond,row,s.calls); t.Log(row.name,r,err)
  q,_,err:=s.rate(t.Context(),500*time.Millisecond,row,func(row apiRow)(func(context.Context) error,func()error,error){return row.straight,func()error{return nil},nil}); t.Log(row.name,"straight",q,err)
 }
}
