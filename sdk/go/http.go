package faucet

import (
	"encoding/json"
	"fmt"
	"time"
)

// Request is an HTTP request to a host that the plugin asks for (About.Wants) and the configuration grants. Secrets never
// reach the plugin: where a header or the path says ${secret:NAME}, the host puts the value.
type Request struct {
	// Method is GET where it is empty.
	Method string
	// URL is absolute: http or https.
	URL string
	// Header has the values by their names.
	Header map[string]string
	// Body is sent as it is.
	Body []byte
	// Timeout is how long to wait for the head of the answer; 0 leaves it to the host, which may wait less in any case.
	Timeout time.Duration
}

// Response is what came back, whatever its status.
type Response struct {
	// Status is 200 to 299 where all is well.
	Status int
	// Header has the values by their names in lower case; those of a name that comes several times are joined by commas.
	Header map[string]string
	// Body is all of it.
	Body []byte
}

// Send sends a request and waits for all of the answer. Redirects are not followed. The error is ErrUnavailable where an
// answer may come later.
//
//	response, err := faucet.Send(faucet.Request{URL: "https://api.example.com/orders?page=2"})
//	if err == nil {
//		err = response.OK()
//	}
func Send(request Request) (*Response, error) { return send(&request) }

// OK is an error unless the status is 200 to 299: ErrUnavailable for 408, 429 and those from 500 on.
func (r *Response) OK() error {
	switch {
	case r.Status >= 200 && r.Status < 300:
		return nil
	case r.Status == 408 || r.Status == 429 || r.Status >= 500:
		return fmt.Errorf("%w: the server answered %d", ErrUnavailable, r.Status)
	default:
		return fmt.Errorf("the server answered %d", r.Status)
	}
}

// JSON reads the body into a value.
func (r *Response) JSON(into any) error {
	if err := json.Unmarshal(r.Body, into); err != nil {
		return fmt.Errorf("the answer is not the JSON that is expected")
	}
	return nil
}
