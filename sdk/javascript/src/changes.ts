import { pack } from "./bits";
import { Column } from "./column";
import { FaucetError } from "./errors";
import type { Kind } from "./kind";
import { type Page, PageBuilder, type PageInfo } from "./page";
import type { Value } from "./values";

/** A row by the names of its columns; what it does not name is absent. */
export type Cells = Record<string, Value>;

/** A page whose rows are changes. */
export interface ChangePage {
  page: Page;
  ops: Uint8Array;
  positions: Uint8Array[];
  committedAt: Column;
  before: { present: Uint8Array; columns: readonly Column[] } | null;
}

/**
 * A page of changes in the making, for sources that follow what happens to rows. Every change has a position, bytes
 * whose order is the order of the stream and all of one length, and the time it was committed in microseconds since
 * 1970-01-01 UTC (`fromDate` makes them of a `Date`).
 */
export class ChangePageBuilder {
  private readonly after: PageBuilder;
  private readonly before: PageBuilder;
  private readonly ops: number[] = [];
  private readonly positions: Uint8Array[] = [];
  private readonly times: bigint[] = [];
  private readonly present: boolean[] = [];

  constructor(info: PageInfo, kinds: Record<string, Kind | `native:${string}`>) {
    this.after = new PageBuilder(info, kinds);
    this.before = new PageBuilder({ table: info.table }, kinds);
  }

  /** Number of changes so far. */
  get rowCount(): number {
    return this.ops.length;
  }

  /** A row was created. */
  created(row: Cells, position: Uint8Array, committedAt: bigint): void {
    this.add("c", row, null, position, committedAt);
  }

  /** A row was updated; `before` is what is known of it as it was. */
  updated(row: Cells, position: Uint8Array, committedAt: bigint, before: Cells | null = null): void {
    this.add("u", row, before, position, committedAt);
  }

  /** A row was deleted; `before` has at least its key. */
  deleted(before: Cells, position: Uint8Array, committedAt: bigint): void {
    this.add("d", {}, before, position, committedAt);
  }

  /** A row was read by a snapshot. */
  read(row: Cells, position: Uint8Array, committedAt: bigint): void {
    this.add("r", row, null, position, committedAt);
  }

  /** The table was truncated. */
  truncated(position: Uint8Array, committedAt: bigint): void {
    this.add("t", {}, null, position, committedAt);
  }

  /** The page. */
  finish(): ChangePage {
    const present = pack(this.present, (is) => is);
    const before = this.present.includes(true) ? { present, columns: this.before.finish().columns } : null;
    const committedAt = Column.of("committed-at", "timestamptz", this.times);
    return { page: this.after.finish(), ops: new Uint8Array(this.ops), positions: this.positions, committedAt, before };
  }

  private add(op: string, row: Cells, before: Cells | null, position: Uint8Array, committedAt: bigint): void {
    if (this.positions.length > 0 && position.length !== this.positions[0]!.length) {
      throw new FaucetError("the positions of a page must all have the same length");
    }
    this.after.push(row);
    this.before.push(before ?? {});
    this.ops.push(op.charCodeAt(0));
    this.positions.push(position);
    this.times.push(committedAt);
    this.present.push(before !== null);
  }
}
