package contract
import ("testing";"strings";"time")
func TestZZ(t *testing.T){
 for _,s:=range []string{`{}`,`{"type":"object","properties":{"a":{"type":"strin"}}}`,`{"type":5}`,`{"properties":[]}`,`{} x`,`{"a":`,`[]`,`true`,`{"$ref":"https://example.com/x"}`,`{"$ref":"file:///etc/passwd"}`,`{"$ref":"#/definitions/x"}`,`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object"}`,`{"$schema":"http://foo/bar"}`,`{"pattern":"^(?!x)"}`,`{"pattern":"("}`,`{"properties":{"a":{"pattern":"["}}}`,`{"required":"a"}`,`{"type":"object","required":["a","a"]}`, `{"properties":{"a":{"minimum":"1"}, "b":{"type":"x"}}}`,`{"$id":"http://[::1","type":"object"}`,`{"$ref":"#"}`,`{"$id":"tool:parameters"}`,`{"$schema":"tool:parameters"}`, `{"$dynamicRef":"#x"}`, `{"multipleOf":1e999999999}`,`{"minimum":1e99999999}`,
  strings.Repeat(`{"not":`,150)+"{}"+strings.Repeat("}",150), strings.Repeat(`{"not":`,9000)+"{}"+strings.Repeat("}",9000), strings.Repeat(`{"allOf":[`,60)+"{}"+strings.Repeat("]}",60),`{"properties":{`+strings.Repeat(`"a":{"type":"object"},`,4000)+`"b":{}}}`, `{"enum":[`+strings.Repeat(`1,`,40000)+`2]}`, `{"required":[`+func()string{var b strings.Builder; for i:=0;i<9000;i++{ b.WriteString(`"`+strings.Repeat("x",i%7)+string(rune('a'+i%26))+string(rune(0x4e00+i))+`",`)}; return b.String()}()+`"zz"]}`}{
  b:=time.Now()
  w:=notASchema(s)
  t.Logf("%.60s => %.300s  (%v)",s,w,time.Since(b))
 }
}
