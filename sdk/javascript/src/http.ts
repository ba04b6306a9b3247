/** HTTP requests, one at a time, to hosts that the configuration grants. A component says in `wants` which those are. */
import client, { type Failure } from "faucet:http/client@0.1.0";
import { FaucetError, Unavailable } from "./errors";
import { decodeTexts, encodeTexts } from "./host";

/** What a request has beside its address. */
export interface RequestOptions {
  /** GET where there is none. */
  method?: string;
  /** Secrets never reach the component: where a value, or the path of the address, says `${secret:NAME}`, the host puts it. */
  headers?: Record<string, string>;
  /** Sent as it is; text as UTF-8. */
  body?: Uint8Array | string;
  /** How long to wait for the head of the answer, in milliseconds. The host may wait less. */
  timeout?: number;
}

/** What came back, whatever its status. */
export class Response {
  constructor(
    readonly status: number,
    /** Names in lower case; the values of a name that comes several times are joined by commas. */
    readonly headers: Readonly<Record<string, string>>,
    readonly body: Uint8Array,
  ) {}

  /** Whether the status is 200 to 299. */
  get ok(): boolean {
    return this.status >= 200 && this.status < 300;
  }

  /** The body as UTF-8. */
  text(): string {
    return decodeTexts(this.body, new Uint8Array(new Int32Array([0, this.body.length]).buffer))[0]!;
  }

  /** The body as JSON. Integers beyond 2^53 lose digits: take them out of the text. */
  json(): unknown {
    return JSON.parse(this.text());
  }
}

/** Sends a request to an absolute address and waits for all of the answer. Redirects are not followed. */
export function request(url: string, { method = "GET", headers = {}, body = "", timeout }: RequestOptions = {}): Response {
  const data = typeof body === "string" ? encodeTexts([body])[0] : body;
  const answer = attempt(() =>
    client.send({ method, url, headers: Object.entries(headers), body: data, timeoutMs: timeout }),
  );
  const joined: Record<string, string> = {};
  for (const [name, value] of answer.headers) {
    joined[name] = name in joined ? `${joined[name]}, ${value}` : value;
  }
  return new Response(answer.status, joined, answer.body);
}

function attempt<T>(call: () => T): T {
  try {
    return call();
  } catch (error) {
    const { tag, val } = failure(error);
    throw tag === "unavailable" ? new Unavailable(val) : new FaucetError(val);
  }
}

/** What the client says went wrong; anything else is none of its doing. */
function failure(error: unknown): Failure {
  const said = (error as { payload?: unknown }).payload ?? error;
  if (typeof (said as Failure).tag !== "string") throw error;
  return said as Failure;
}
