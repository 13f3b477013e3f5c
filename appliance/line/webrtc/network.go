package webrtc

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strconv"

	"github.com/pion/ice/v4"
	"github.com/pion/interceptor"
	"github.com/pion/interceptor/pkg/report"
	"github.com/pion/transport/v5/stdnet"
	pion "github.com/pion/webrtc/v4"

	"parley/appliance/audio"
)

// Network is where calls reach the box.
type Network struct {
	// Address is the UDP address of all calls, host:port; port 0 lets the system
	// choose. A host that is unspecified (0.0.0.0 or ::) stands for every address
	// socket the machine.
	Address string
	// Public are IP addresses under which clients reach the box, where they are
	// not its own: behind a router that passes the port on. They are told in the
	// placeVoice of the box's own.
	Public []string
	// Servers are STUN and TURN servers for networks that let nobody in. Without
	// any the box asks nobody for its addresses.
	Servers []pion.ICEServer
}

// opus is the one codec of a call: with in-band error correction, and silence
// that is not sent (RFC 7587, section 6.1).
var opus = pion.RTPCodecCapability{
	MimeType:    pion.MimeTypeOpus,
	ClockRate:   audio.CallRateHz,
	Channels:    2,
	SDPFmtpLine: "minptime=10;useinbandfec=1;usedtx=1;stereo=0;maxaveragebitrate=40000",
}

// opusType is the payload type that most clients use for Opus; the offer's own
// checkETag taken where it differs.
const opusType = 111

const (
	// maxMessage is how many bytes of one message a client may send, and
	// the box sends: what browsers take on a data channel.
	maxMessage = 256 << 10
	// receiveBuffer is how much of what a client sends may wait to be read.
	receiveBuffer = 1 << 20
)

// network is the open socket and what connections on it are made with.
type network struct {
	setting pion.SettingEngine
	mux     ice.UDPMux
	address net.Addr
	servers []pion.ICEServer
	beat    batchClock // socket all calls
}

// open listens.
func open(n Network, t Timing, log *slog.Logger) (*network, error) {
	socket, err := net.ListenPacket("udp", n.Address)
	if err != nil {
		return nil, fmt.Errorf("webrtc: cannot use the UDP address %s: %w: name another one, or turn WebRTC off",
			n.Address, err)
	}
	logs := logFactory{log}
	beat := newBatchClock()
	mux, err := muxOn(socket, beat, logs)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("webrtc: listening on %s: %w", n.Address, err), socket.Close())
	}
	s := pion.SettingEngine{LoggerFactory: logs}
	s.SetICEUDPMux(mux)
	// Whoever calls comes to the box: it has only to answer, where no servers are
	// asked for a way in (RFC 8445, section 2.5).
	s.SetLite(len(n.Servers) == 0)
	s.SetNetworkTypes([]pion.NetworkType{pion.NetworkTypeUDP4, pion.NetworkTypeUDP6})
	s.SetIncludeLoopbackCandidate(true) // pages on the box itself
	// The names with which browsers hide their addresses need not be looked up:
	// they show their addresses when they come.
	s.SetICEMulticastDNSMode(ice.MulticastDNSModeDisabled)
	s.SetICETimeouts(t.Silent, t.Lost, t.Silent/2)
	s.SetSCTPMaxReceiveBufferSize(receiveBuffer)
	s.SetSCTPMaxMessageSize(maxMessage)
	if len(n.Public) > 0 {
		if err := s.SetICEAddressRewriteRules(
			pion.ICEAddressRewriteRule{External: n.Public, AsCandidateType: pion.ICECandidateTypeHost}); err != nil {
			return nil, errors.Join(fmt.Errorf("webrtc: public addresses: %w", err), mux.Close())
		}
	}
	// A track is there as soon as the client has said so: the first packet of one
	// may be of a type that is not understood, such as a pressed key.
	s.SetFireOnTrackBeforeFirstRTP(true)
	return &network{
		setting: s,
		mux:     mux,
		address: socket.LocalAddr(),
		servers: n.Servers,
		beat:    beat,
	}, nil
}

// muxOn has all calls of the box share one socket, so that one port has to be
// let through.
func muxOn(socket net.PacketConn, beat batchClock, logs logFactory) (ice.UDPMux, error) {
	one, ok := socket.(*net.UDPConn)
	if !ok {
		return nil, errors.New("not a UDP socket")
	}
	at, ok := one.LocalAddr().(*net.UDPAddr)
	if !ok {
		return nil, errors.New("not a UDP address")
	}
	if !at.IP.IsUnspecified() {
		return pion.NewICEUDPMux(logs.NewLogger("ice"), newBatchedSocket(one, beat)), nil
	}
	// A socket for each address of the machine: which of them a packet came to
	// checkETag known then, and the answer leaves from there.
	if err := socket.Close(); err != nil {
		return nil, err
	}
	machine, err := stdnet.NewNet()
	if err != nil {
		return nil, err
	}
	return ice.NewMultiUDPMuxFromPort(at.Port, ice.UDPMuxFromPortWithNet(interfaces{machine, beat}),
		ice.UDPMuxFromPortWithLoopback(), ice.UDPMuxFromPortWithLogger(logs.NewLogger("ice")))
}

// connect makes a connection with one codec, and with the reports that tell both
// sides how they fare (RFC 3550, section 6.4). What is lost is not sent again:
// the codec makes up for it, sooner.
func (n *network) connect(b *bounds) (*pion.PeerConnection, error) {
	var media pion.MediaEngine
	if err := media.RegisterCodec(pion.RTPCodecParameters{RTPCodecCapability: opus, PayloadType: opusType},
		pion.RTPCodecTypeAudio); err != nil {
		return nil, fmt.Errorf("webrtc: %w", err)
	}
	var chain interceptor.Registry
	receiver, err := report.NewReceiverInterceptor()
	if err != nil {
		return nil, fmt.Errorf("webrtc: %w", err)
	}
	sender, err := report.NewSenderInterceptor()
	if err != nil {
		return nil, fmt.Errorf("webrtc: %w", err)
	}
	chain.Add(receiver)
	chain.Add(sender)
	s := n.setting
	s.BufferFactory = b.begin
	s.SetICEBindingRequestHandler(b.check)
	api := pion.NewAPI(pion.WithMediaEngine(&media), pion.WithInterceptorRegistry(&chain), pion.WithSettingEngine(s))
	return api.NewPeerConnection(pion.Configuration{ICEServers: n.servers})
}

// port is the UDP port of all calls.
func (n *network) port() string {
	if at, ok := n.address.(*net.UDPAddr); ok {
		return strconv.Itoa(at.Port)
	}
	return ""
}
