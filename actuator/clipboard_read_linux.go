package actuator

import (
	"context"
	"fmt"

	"github.com/jezek/xgb/xproto"
)

func (x *x11Backend) clipboard(ctx context.Context) (text string, owned bool, err error) {
	owner, err := xproto.GetSelectionOwner(x.conn.Conn, x.clip.atoms.clipboard).Reply()
	if err != nil {
		return "", false, fmt.Errorf("clipboard: %w", err)
	}
	if owner.Owner == xproto.WindowNone {
		return "", false, nil
	}
	text, err = x.clip.get(ctx)
	return text, true, err
}
