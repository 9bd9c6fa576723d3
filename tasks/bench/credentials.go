package bench

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
)

const (
	identityName    = ".server.json"  // what the server of [Serve] has for itself
	credentialsName = ".worker.creds" // and for workers
	handshakeTime   = 10              // seconds, also on a machine that is busy
)

var (
	errStranger    = errors.New("the server is not the one of these credentials: its certificate is another; copy the file again")
	errCredentials = errors.New("these are no credentials of a benchmark: they are the line in the file that its server wrote, which begins with tls://")
)

// Credentials let a worker log in to the server of [Serve], and know it again:
// an nkey of NATS, and the digest of a certificate. They are secret.
type Credentials struct {
	URL string // of the server; no secret

	worker      nkeys.KeyPair
	certificate [sha256.Size]byte // digest
}

// ParseCredentials reads the line that is in a file of credentials.
func ParseCredentials(line string) (*Credentials, error) {
	u, err := url.Parse(strings.TrimSpace(line))
	if err != nil || u.Scheme != "tls" || u.Host == "" || u.User == nil {
		return nil, errCredentials // what url says would have the secret in it
	}
	sum, err := hex.DecodeString(u.Query().Get("certificate"))
	if err != nil || len(sum) != sha256.Size {
		return nil, errCredentials
	}
	worker, err := nkeys.FromSeed([]byte(u.User.Username()))
	if err != nil {
		return nil, errCredentials
	}
	return &Credentials{URL: "tls://" + u.Host, worker: worker, certificate: [sha256.Size]byte(sum)}, nil
}

// line is what [ParseCredentials] reads.
func (c *Credentials) line() (string, error) {
	seed, err := c.worker.Seed()
	host := strings.TrimPrefix(c.URL, "tls://")
	return fmt.Sprintf("tls://%s@%s?certificate=%x\n", seed, host, c.certificate), err
}

// String is the URL.
func (c *Credentials) String() string { return c.URL }

// Options log in to the server, if it is the one.
func (c *Credentials) Options() ([]nats.Option, error) {
	public, err := c.worker.PublicKey()
	if err != nil {
		return nil, err
	}
	return []nats.Option{nats.Nkey(public, c.worker.Sign), nats.Secure(&tls.Config{
		// The server is known by this one certificate, not by a name in it.
		InsecureSkipVerify: true,
		VerifyConnection: func(s tls.ConnectionState) error {
			if sha256.Sum256(s.PeerCertificates[0].Raw) != c.certificate {
				return errStranger
			}
			return nil
		},
	})}, nil
}

// An identity is what the server of [Serve] has for itself: a certificate with
// its key, and what workers are known by. It stays the same while a run is
// stopped, so that workers can wait for it.
type identity struct {
	Certificate []byte `json:"certificate"` // DER
	Key         []byte `json:"key"`         // PKCS #8
	Worker      string `json:"worker"`      // seed of an nkey
}

// identify reads the identity of a results folder, or makes one.
func identify(dir string) (*identity, error) {
	path := filepath.Join(dir, identityName)
	data, err := os.ReadFile(path)
	if err == nil {
		var id identity
		if err := json.Unmarshal(data, &id); err != nil {
			return nil, fmt.Errorf("%s: %w; remove it, and give workers the new credentials", path, err)
		}
		return &id, nil
	} else if !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	id, err := newIdentity()
	if err != nil {
		return nil, err
	}
	if data, err = json.Marshal(id); err != nil {
		return nil, err
	}
	return id, writeSecret(path, data)
}

func newIdentity() (*identity, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	form := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: now.AddDate(0, 0, -1), NotAfter: now.AddDate(10, 0, 0)}
	id := &identity{}
	if id.Certificate, err = x509.CreateCertificate(rand.Reader, form, form, key.Public(), key); err != nil {
		return nil, err
	}
	if id.Key, err = x509.MarshalPKCS8PrivateKey(key); err != nil {
		return nil, err
	}
	worker, err := nkeys.CreateUser()
	if err != nil {
		return nil, err
	}
	seed, err := worker.Seed()
	id.Worker = string(seed)
	return id, err
}

// writeSecret writes a file that only its owner can read, instead of what is there.
func writeSecret(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".secret-") // which has these rights
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

// claim gives a server that knows nobody TLS and two users: the coordinator, which
// may do anything and logs in with the options, and the workers of a run.
func claim(conf *server.Options, dir, run string) (*Credentials, []nats.Option, error) {
	id, err := identify(dir)
	if err != nil {
		return nil, nil, err
	}
	if conf.TLSConfig == nil {
		key, err := x509.ParsePKCS8PrivateKey(id.Key)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", identityName, err)
		}
		conf.TLSConfig = &tls.Config{
			MinVersion:   tls.VersionTLS13,
			Certificates: []tls.Certificate{{Certificate: [][]byte{id.Certificate}, PrivateKey: key}},
		}
		conf.TLSTimeout, conf.AuthTimeout = handshakeTime, handshakeTime
	}
	if len(conf.TLSConfig.Certificates) == 0 {
		return nil, nil, fmt.Errorf("NATS server: %w: its TLS has no certificate to know it by: name users as well", ErrInsecure)
	}
	c := &Credentials{certificate: sha256.Sum256(conf.TLSConfig.Certificates[0].Certificate[0])}
	if c.worker, err = nkeys.FromSeed([]byte(id.Worker)); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", identityName, err)
	}
	worker, err := c.worker.PublicKey()
	if err != nil {
		return nil, nil, err
	}
	self, err := nkeys.CreateUser()
	if err != nil {
		return nil, nil, err
	}
	own, err := self.PublicKey()
	conf.Nkeys = []*server.NkeyUser{{Nkey: own}, {Nkey: worker, Permissions: workerRights(run)}}
	return c, []nats.Option{nats.Nkey(own, self.Sign)}, err
}

// workerRights are what workers of a run may do on a server: take trials, hand results in,
// and store what belongs to them. Who replaces a stored object purges what was there, and
// the right to do that is one to all objects of the run.
func workerRights(run string) *server.Permissions {
	q := &queue{run: run}
	store := "OBJ_" + q.bucket()
	return &server.Permissions{
		Publish: &server.SubjectPermission{Allow: []string{
			q.subject("result", "*"), q.subject("back", "*.*"), q.subject("beat", ">"),
			"$O." + q.bucket() + ".>",
			"$JS.API.STREAM.INFO." + q.results(), "$JS.API.STREAM.MSG.GET." + q.results(),
			"$JS.API.CONSUMER.INFO." + q.trials() + "." + consumer, "$JS.API.CONSUMER.MSG.NEXT." + q.trials() + "." + consumer,
			"$JS.API.STREAM.INFO." + store, "$JS.API.STREAM.PURGE." + store, "$JS.API.DIRECT.GET." + store + ".>",
			"$JS.ACK." + q.trials() + "." + consumer + ".>",
		}},
		Subscribe: &server.SubjectPermission{Allow: []string{"_INBOX.>", q.subject("over", "")}},
	}
}
