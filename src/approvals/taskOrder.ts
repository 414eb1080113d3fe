/** Owns in which order calls are shown: the same at the host, which cuts the list, and in the page. */

/** What the order looks at. */
export interface Ordered {
  readonly id: string;
  readonly createdAt: string;
  readonly inputs: { readonly length: number };
}

/** Calls with open questions first, then the newest; equal instants by id, so that a list never flickers. */
export function inOrder(a: Ordered, b: Ordered): number {
  const byNeed = Number(b.inputs.length > 0) - Number(a.inputs.length > 0);
  if (byNeed !== 0) return byNeed;
  // Both are ISO text of the host's clock.
  if (a.createdAt !== b.createdAt) return a.createdAt < b.createdAt ? 1 : -1;
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0;
}
