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
	"github.com/pion/transport/v5"
	"github.com/pion/transport/v5/stdnet"
	pion "github.com/pion/webrtc/v4"

	"parley/appliance/audio"
	"parley/appliance/line/rtp"
)

// Network is the network configuration of calls.
type Network struct {
	// Address is the UDP address of all calls, host:port. With port 0 the system chooses.
	// An unspecified host (0.0.0.0 or ::) means every address of the machine.
	Address string
	// Public are the IP addresses under which clients reach the box behind a router that
	// forwards the port. They are announced in place of the box's own.
	Public []string
	// Servers are STUN and TURN servers, for networks without incoming connections. Without
	// servers the box asks nobody for its addresses.
	Servers []pion.ICEServer
}

// opus is the only codec of a call: with in-band error correction, and without packets for
// silence (RFC 7587, section 6.1).
var opus = pion.RTPCodecCapability{
	MimeType:    pion.MimeTypeOpus,
	ClockRate:   audio.CallRateHz,
	Channels:    2,
	SDPFmtpLine: "minptime=10;useinbandfec=1;usedtx=1;stereo=0;maxaveragebitrate=40000",
}

// opusType is the usual payload type for Opus. If the offer has another one, that is used.
const opusType = 111

const (
	// maxMessage bounds a message in both directions: what browsers accept on a data
	// channel.
	maxMessage = 256 << 10
	// receiveBuffer bounds the client's data that waits to be read.
	receiveBuffer = 1 << 20
)

// network is the open socket with the settings for connections.
type network struct {
	setting pion.SettingEngine
	mux     ice.UDPMux
	address net.Addr
	servers []pion.ICEServer
	beat    rtp.Clock // of all calls
}

// open opens the network.
func open(n Network, t Timing, log *slog.Logger) (*network, error) {
	socket, err := net.ListenPacket("udp", n.Address)
	if err != nil {
		return nil, fmt.Errorf("webrtc: cannot use the UDP address %s: %w: name another one, or turn WebRTC off",
			n.Address, err)
	}
	logs := logFactory{log}
	beat := rtp.NewClock()
	mux, err := muxOn(socket, beat, logs)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("webrtc: listening on %s: %w", n.Address, err), socket.Close())
	}
	s := pion.SettingEngine{LoggerFactory: logs}
	s.SetICEUDPMux(mux)
	// Clients connect to the box, which only has to answer, unless servers are used (RFC
	// 8445, section 2.5).
	s.SetLite(len(n.Servers) == 0)
	s.SetNetworkTypes([]pion.NetworkType{pion.NetworkTypeUDP4, pion.NetworkTypeUDP6})
	s.SetIncludeLoopbackCandidate(true) // for pages on the box itself
	// The mDNS names of browsers need not be resolved: the addresses are known when the
	// browsers connect.
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
	// A track exists as soon as the client announces it, because its first packet may be of
	// an unknown type, such as a key press.
	s.SetFireOnTrackBeforeFirstRTP(true)
	return &network{
		setting: s,
		mux:     mux,
		address: socket.LocalAddr(),
		servers: n.Servers,
		beat:    beat,
	}, nil
}

// muxOn makes all calls share one socket, so that only one port has to be opened.
func muxOn(socket net.PacketConn, beat rtp.Clock, logs logFactory) (ice.UDPMux, error) {
	one, ok := socket.(*net.UDPConn)
	if !ok {
		return nil, errors.New("not a UDP socket")
	}
	at, ok := one.LocalAddr().(*net.UDPAddr)
	if !ok {
		return nil, errors.New("not a UDP address")
	}
	if !at.IP.IsUnspecified() {
		return pion.NewICEUDPMux(logs.NewLogger("ice"), rtp.NewSocket(one, beat)), nil
	}
	// Each address of the machine gets a socket, so that an answer leaves from the address
	// at which the packet came in.
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

// interfaces are the machine's network interfaces, with sockets for many calls.
type interfaces struct {
	*stdnet.Net
	beat rtp.Clock
}

// ListenUDP implements transport.Net.
func (i interfaces) ListenUDP(network string, at *net.UDPAddr) (transport.UDPConn, error) {
	socket, err := net.ListenUDP(network, at)
	if err != nil {
		return nil, err
	}
	return rtp.NewSocket(socket, i.beat), nil
}

// connect creates a connection with one codec and RTCP reports (RFC 3550, section 6.4).
// Lost packets are not sent again; the codec conceals them sooner.
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

// port returns the UDP port of all calls.
func (n *network) port() string {
	if at, ok := n.address.(*net.UDPAddr); ok {
		return strconv.Itoa(at.Port)
	}
	return ""
}
