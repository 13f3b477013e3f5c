"""The acoustic features of the voice model of appliance/expression, in numpy. It is the
reference for frame.go, pitch.go and features.go, and makes their test data. The features
follow the sets of openSMILE (Eyben et al. 2016), but are simpler: F0 by the normalised autocorrelation
of Boersma (1993), loudness, the spectrum's shape, a cepstrum, harmonics, formants, timing."""
import numpy as np, wave
SR=16000; WIN=400; HOP=160; NF=512
def read(p):
    w=wave.open(p); x=np.frombuffer(w.readframes(w.getnframes()),np.int16).astype(np.float64)/32768; sr=w.getframerate()
    if w.getnchannels()==2: x=x.reshape(-1,2).mean(1)
    return resample(x,sr)
def resample(x,sr):
    if sr==SR: return x
    n=int(len(x)*SR/sr); c=min(1,SR/sr)*0.95; H=16; t=np.arange(n)*sr/SR; y=np.zeros(n)
    i0=np.floor(t).astype(int)
    for k in range(-H+1,H+1):   # windowed-sinc
        idx=i0+k; d=t-idx; wgt=c*np.sinc(c*d)*(0.5+0.5*np.cos(np.pi*np.clip(d/H,-1,1)))
        ok=(idx>=0)&(idx<len(x)); y[ok]+=x[idx[ok]]*wgt[ok]
    return y
def mel(nb=26,lo=20,hi=8000):
    f=lambda h:2595*np.log10(1+h/700); g=lambda m:700*(10**(m/2595)-1)
    e=g(np.linspace(f(lo),f(hi),nb+2)); b=np.arange(NF//2+1)*SR/NF; M=np.zeros((nb,NF//2+1))
    for i in range(nb):
        M[i]=np.maximum(0,np.minimum((b-e[i])/(e[i+1]-e[i]),(e[i+2]-b)/(e[i+2]-e[i+1])))
    return M
MEL=mel(); DCT=np.array([[np.cos(np.pi*k*(n+.5)/26) for n in range(26)] for k in range(13)])*np.sqrt(2/26)
LMIN,LMAX=SR//500,SR//60
def f0track(x,nfr):
    """autocorrelation normalised by window autocorrelation (Boersma), 60-500 Hz, + octave cost, then Viterbi"""
    wl=800; w=np.hanning(wl); rw=np.fft.irfft(np.abs(np.fft.rfft(w,2048))**2)[:LMAX+2]; rw/=rw[0]
    xp=np.concatenate([np.zeros(wl//2),x,np.zeros(wl)]); K=6
    cand=np.zeros((nfr,K)); st=np.full((nfr,K),-9.0); pk=np.abs(x).max()+1e-9
    for t in range(nfr):
        c=t*HOP+WIN//2; fr=xp[c:c+wl]; fr=fr-fr.mean(); loc=np.abs(fr).max()
        r=np.fft.irfft(np.abs(np.fft.rfft(fr*w,2048))**2)[:LMAX+2]
        if r[0]<=1e-10: r=np.zeros_like(r)
        else: r=r/r[0]/rw
        # candidates
        lag=np.arange(LMIN,LMAX); m=(r[lag]>r[lag-1])&(r[lag]>=r[lag+1])&(r[lag]>0.25); L=lag[m]
        # parabolic
        a,b,cc=r[L-1],r[L],r[L+1]; d=np.where((a-2*b+cc)!=0,.5*(a-cc)/(a-2*b+cc+1e-12),0); v=b-.25*(a-cc)*d; l=L+d
        s=v-0.01*np.log2(60*l/SR)  # favour high f0 a little
        o=np.argsort(-s)[:K-1]; cand[t,1:1+len(o)]=SR/l[o]; st[t,1:1+len(o)]=s[o]
        st[t,0]=0.45+max(0,2-(loc/pk)/(0.03)*(1+0.45))  # unvoiced strength
    VUV=0.14; OJ=0.35; D=st[0].copy(); B=np.zeros((nfr,K),int); u=cand>0; lg=np.log2(np.where(u,cand,1))
    for t in range(1,nfr):
        both=u[t][:,None]&u[t-1][None]; c=np.where(both,OJ*np.abs(lg[t][:,None]-lg[t-1][None]),np.where(u[t][:,None]!=u[t-1][None],VUV,0))
        q=D[None]-c; B[t]=q.argmax(1); D=q.max(1)+st[t]
    k=D.argmax(); f=np.zeros(nfr); s=np.zeros(nfr)
    for t in range(nfr-1,-1,-1):
        f[t]=cand[t,k]; s[t]=st[t,k] if cand[t,k]>0 else 0; k=B[t,k]
    return f,np.clip(s,0,0.999)
def frames(x):
    n=max(1,(len(x)-WIN)//HOP+1); ix=np.arange(WIN)[None]+HOP*np.arange(n)[:,None]
    if len(x)<WIN: x=np.concatenate([x,np.zeros(WIN-len(x))])
    return x[ix]
def trim(x):
    f=frames(x); e=10*np.log10((f**2).mean(1)+1e-10); k=np.where(e>e.max()-40)[0]; return x[max(0,k[0]*HOP-800):k[-1]*HOP+WIN+800]
def stats(v,pre,o,full=True):
    if len(v)==0: v=np.zeros(1)
    o[pre+'_mean']=v.mean(); o[pre+'_std']=v.std()
    if full:
        p=np.percentile(v,[20,50,80]); o[pre+'_p20'],o[pre+'_p50'],o[pre+'_p80']=p; o[pre+'_rng']=p[2]-p[0]
def slopes(v,pre,o):
    d=np.diff(v)*100
    o[pre+'_rise']=d[d>0].mean() if (d>0).any() else 0; o[pre+'_fall']=d[d<0].mean() if (d<0).any() else 0
def feats(x):
    x=trim(x); o={}; F=frames(x); n=len(F); P=np.abs(np.fft.rfft(F*np.hamming(WIN),NF))**2+1e-12
    hz=np.arange(NF//2+1)*SR/NF; pk=(F**2).mean(1); db=10*np.log10(pk+1e-10)
    f,s=f0track(x,n); V=f>0; st=12*np.log2(np.where(V,f,27.5)/27.5)
    # --- F0 in semitones above 27.5Hz
    stats(st[V],'f0',o); 
    # slopes within voiced segments
    seg=[]; i=0
    while i<n:
        if V[i]:
            j=i
            while j<n and V[j]: j+=1
            if j-i>=3: seg.append((i,j))
            i=j
        else: i+=1
    R=[];Fa=[];reg=[]
    for a,b in seg:
        d=np.diff(np.convolve(np.pad(st[a:b],1,'edge'),[1/3]*3,'valid'))*100; R+=list(d[d>0]); Fa+=list(d[d<0]); reg.append(np.polyfit(np.arange(b-a)*.01,st[a:b],1)[0])
    o['f0_rise']=np.mean(R) if R else 0; o['f0_fall']=np.mean(Fa) if Fa else 0; o['f0_reg']=np.mean(reg) if reg else 0; o['f0_absreg']=np.mean(np.abs(reg)) if reg else 0
    if V.sum()>5:
        t=np.where(V)[0]*.01; o['f0_trend']=np.polyfit(t,st[V],1)[0]
    else: o['f0_trend']=0
    # jitter/shimmer approximations: frame to frame relative change
    j=[];sh=[]
    for a,b in seg:
        T0=1/f[a:b]; j+=list(np.abs(np.diff(T0,2))/T0[1:-1]) if b-a>=3 else []; sh+=list(np.abs(np.diff(db[a:b])))
    o['jit']=np.mean(j) if j else 0; o['shim']=np.mean(sh) if sh else 0
    hnr=10*np.log10(np.clip(s[V],1e-3,.999)/(1-np.clip(s[V],1e-3,.999))); stats(hnr,'hnr',o,False)
    # --- loudness (auditory: sum of mel^0.3), level independent of gain? keep rel + abs
    M=P@MEL.T/NF; loud=(M**0.3).sum(1); g=loud.mean()+1e-9
    o['loud_mean']=g; stats(loud/g,'lrel',o); slopes(loud/g,'lrel',o); o['loud_pk']=((loud[1:-1]>loud[:-2])&(loud[1:-1]>=loud[2:])&(loud[1:-1]>g)).sum()/(n*.01)
    act=db>db.max()-30; o['db_std']=db[act].std(); o['db_rng']=np.percentile(db[act],95)-np.percentile(db[act],5)
    # --- spectral over voiced and unvoiced
    tot=P.sum(1); L10=10*np.log10(P)
    def band(a,b): k=(hz>=a)&(hz<b); return P[:,k].sum(1)
    alpha=10*np.log10(band(50,1000)/band(1000,5000)); k1=(hz>=0)&(hz<2000);k2=(hz>=2000)&(hz<5000)
    hamm=10*np.log10(P[:,k1].max(1)/P[:,k2].max(1))
    def slope(a,b):
        k=(hz>=a)&(hz<b); h=hz[k]/1000; h=h-h.mean(); return (L10[:,k]*h).sum(1)/(h*h).sum()
    s0,s1=slope(20,500),slope(500,1500); cen=(P*hz).sum(1)/tot; spread=np.sqrt((P*(hz-cen[:,None])**2).sum(1)/tot)
    cum=np.cumsum(P,1)/tot[:,None]; roll=(cum<.85).sum(1)*SR/NF
    Pn=P/tot[:,None]; flux=np.r_[0,np.sqrt((np.diff(np.sqrt(Pn),axis=0)**2).sum(1))]; ent=-(Pn*np.log(Pn)).sum(1)
    U=(~V)&act; 
    for nm,v in dict(alpha=alpha,hamm=hamm,s0=s0,s1=s1,cen=cen,spread=spread,roll=roll,flux=flux,ent=ent).items():
        stats(v[V],nm+'V',o,False); o[nm+'U']=v[U].mean() if U.any() else 0
    C=np.log(M+1e-10)@DCT.T
    for i in range(1,13): stats(C[V][:,i],f'c{i}V',o,False); 
    for i in range(1,13): stats(C[act][:,i],f'c{i}A',o,False)
    dC=np.zeros_like(C); dC[2:-2]=(2*(C[4:]-C[:-4])+C[3:-1]-C[1:-3])/10 if n>4 else 0
    for i in range(0,13): o[f'd{i}']=dC[act][:,i].std()
    # harmonic differences H1-H2, H1-A3 (voiced frames)
    if V.any():
        fr=np.where(V)[0]; PL=10*np.log10(np.abs(np.fft.rfft(F[fr]*np.hanning(WIN),2048))**2+1e-12); b=SR/2048; h1=[];h13=[]
        for r,t in enumerate(fr):
            p=lambda q: PL[r,max(0,int(q/b)-3):int(q/b)+4].max(); a=p(f[t]); h1.append(a-p(2*f[t])); lo,hi=int(2200/b),int(3400/b); h13.append(a-PL[r,lo:hi].max())
        stats(np.array(h1),'h12',o,False); stats(np.array(h13),'h1a3',o,False)
    else: stats(np.zeros(1),'h12',o,False); stats(np.zeros(1),'h1a3',o,False)
    # formants via LPC order 10 on 16k-> use simple LPC(18) pole picking, medians only
    fm=[]
    for t in np.where(V)[0][::2]:
        y=F[t]*np.hamming(WIN); y=np.append(y[0],y[1:]-.97*y[:-1]); r=np.correlate(y,y,'full')[WIN-1:WIN+18]
        a=lev(r,18)
        if a is None: continue
        rt=np.roots(a); rt=rt[np.imag(rt)>0.01]; fr_=np.angle(rt)*SR/2/np.pi; bw=-np.log(np.abs(rt)+1e-9)*SR/np.pi
        q=sorted((fr_[i],bw[i]) for i in range(len(rt)) if fr_[i]>200 and bw[i]<600)
        if len(q)>=3: fm.append([q[0][0],q[1][0],q[2][0],q[0][1]])
    fm=np.array(fm) if fm else np.zeros((1,4))
    for i,nm in enumerate(['F1','F2','F3','B1']): stats(fm[:,i],nm,o,False)
    # --- timing
    dur=n*.01; vl=np.array([(b-a)*.01 for a,b in seg]) if seg else np.zeros(1)
    ul=[];i=0
    while i<n:
        if not V[i]:
            j2=i
            while j2<n and not V[j2]: j2+=1
            ul.append((j2-i)*.01); i=j2
        else: i+=1
    ul=np.array(ul) if ul else np.zeros(1)
    # syllable nuclei: peaks in 50ms smoothed dB with >=2dB dips, voiced
    sm=np.convolve(np.pad(db,3,'edge'),np.hanning(9)[1:-1]/np.hanning(9)[1:-1].sum(),'valid'); th=sm.max()-25; nuc=0; last=-1e9; mn=1e9
    for t in range(1,n-1):
        mn=min(mn,sm[t])
        if sm[t]>sm[t-1] and sm[t]>=sm[t+1] and sm[t]>th and sm[t]-mn>2 and V[max(0,t-2):t+3].any(): nuc+=1; mn=sm[t]
    o['rate']=nuc/dur; o['vsegs']=len(seg)/dur; o['vfrac']=V.mean(); o['vl_mean']=vl.mean(); o['vl_std']=vl.std(); o['ul_mean']=ul.mean(); o['ul_std']=ul.std(); o['pause']=(~act).mean(); o['dur']=np.log(dur)
    return o
def lev(r,p):
    if r[0]<=0: return None
    a=np.zeros(p+1); a[0]=1; e=r[0]*1.0001
    for i in range(1,p+1):
        k=-(a[:i]@r[i:0:-1])/e; b=a.copy(); b[1:i+1]=a[1:i+1]+k*a[i-1::-1][:i]; a=b; e*=1-k*k
        if e<=0: return None
    return a


if __name__ == "__main__":
    # Writes testdata/features.json: of recordings of Debian's asterisk-core-sounds-en-wav, each
    # sample held for two, and of the tone that sung() in sound_test.go makes.
    import json, sys

    folder, model, out = sys.argv[1:]

    def recorded(name):
        w = wave.open(folder + "/" + name + ".wav")
        return np.repeat(np.frombuffer(w.readframes(w.getnframes()), np.int16).astype(np.float64) / 32768, 2)

    def sung():
        at = np.arange(3 * SR) / SR
        phase = np.cumsum(2 * np.pi * (120 + 40 * at + 5 * np.sin(2 * np.pi * 5 * at)) / SR)
        x = np.zeros(3 * SR, np.float32)
        for k in range(1, 21):
            x += (0.2 * np.sin(k * phase) / k).astype(np.float32)
        x[np.fmod(at, 0.7) > 0.5] = 0
        return x.astype(float)

    names = json.load(open(model))["features"]
    sounds = {n: recorded(n) for n in ("vm-marked-urgent", "conf-lockednow", "sorry-youre-having-problems")}
    golden = {}
    for name, x in {**sounds, "sung": sung()}.items():
        values = feats(x)
        values["lrel_mean"] = 1.0  # by its definition; what it is less tells of the gain
        golden[name] = {k: float("%.9g" % values[k]) for k in names}
    with open(out, "w") as f:
        f.write("{\n" + ",\n".join(json.dumps(k) + ": " + json.dumps(v) for k, v in golden.items()) + "\n}\n")
