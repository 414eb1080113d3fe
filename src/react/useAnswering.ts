/** Owns what becomes of a person's answer to one question: at most one is under way, and what closed stays closed. No markup. */
import { useCallback, useMemo, useRef, useState } from "react";
import type { JsonObject } from "../internal/json.js";
import type { AnswerOutcome, Approval } from "../approvals/storeTypes.js";
import { useTasksContext } from "./context.js";
import { useSelection } from "./selection.js";
import { sameStanding, standingOf, type OverReason, type Standing } from "./standing.js";

/** What a card shows. Every kind is a value of its `data-state`. */
export type CardState =
  | { readonly kind: "editing" }
  | { readonly kind: "sending"; readonly action: string }
  /** This card's answer stands. */
  | { readonly kind: "answered"; readonly action: string; readonly answeredAt: string }
  /** Another answer stands: of somebody else, of the host, or of its policy. */
  | {
      readonly kind: "elsewhere";
      readonly by?: string | undefined;
      readonly answeredAt?: string | undefined;
      readonly action?: string | undefined;
      readonly source?: string | undefined;
    }
  | { readonly kind: "over"; readonly reason: OverReason }
  /** The answer does not fit; nothing was stored. */
  | { readonly kind: "invalid"; readonly field?: string | undefined; readonly message: string }
  | { readonly kind: "refused"; readonly message: string }
  /** Nobody can say whether it arrived. */
  | { readonly kind: "failed"; readonly message: string };

/** A question's state, and how to answer it. */
export interface Answering {
  readonly state: CardState;
  /** True once no answer is taken any more. */
  readonly closed: boolean;
  readonly busy: boolean;
  /** Sends an answer, unless one is under way or the question is closed. */
  readonly send: (response: JsonObject, action: string) => void;
  /** Sends the last answer again, unchanged. */
  readonly retry: () => void;
}

export function useAnswering({ task, input }: Approval): Answering {
  const { store } = useTasksContext();
  const [own, setOwn] = useState<CardState>({ kind: "editing" });
  const { id } = task;
  const { key, version, askedAt } = input;
  const asked = useMemo(() => ({ key, version, askedAt }), [key, version, askedAt]);
  const standing = useSelection((state) => standingOf(state, id, asked), sameStanding, [id, asked]);
  const state = shownState(own, standing);
  const closed = isClosed(state);

  const taken = useRef(false);
  const last = useRef<{ readonly response: JsonObject; readonly action: string } | undefined>(undefined);
  const send = useCallback(
    (response: JsonObject, action: string) => {
      // A click and an Escape may come within one frame, before anything is drawn anew.
      if (taken.current || standingOf(store.getSnapshot(), id, asked).kind !== "open") return;
      taken.current = true;
      last.current = { response, action };
      setOwn({ kind: "sending", action });
      store.answer(id, asked.key, response, { version: asked.version }).then(
        (outcome) => {
          const next = afterOutcome(outcome, action);
          taken.current = isClosed(next);
          setOwn(next);
        },
        // The store rejects only what is no answer at all, which a host's own code may hand in.
        (error: unknown) => {
          taken.current = false;
          setOwn({ kind: "invalid", message: error instanceof Error ? error.message : "" });
        },
      );
    },
    [store, id, asked],
  );
  const retry = useCallback(() => {
    if (last.current !== undefined) send(last.current.response, last.current.action);
  }, [send]);
  return { state, closed, busy: state.kind === "sending", send, retry };
}

function isClosed({ kind }: CardState): boolean {
  return kind === "answered" || kind === "elsewhere" || kind === "over";
}

/** What this card did counts first: its own answer may be told of by the stream before its request is answered. */
function shownState(own: CardState, standing: Standing): CardState {
  if (own.kind === "sending" || own.kind === "answered") return own;
  if (standing.kind === "elsewhere") {
    const { by, answeredAt, action, source } = standing.answer;
    return { kind: "elsewhere", by, answeredAt, action, source };
  }
  if (standing.kind === "over") return own.kind === "elsewhere" ? own : standing;
  return own;
}

function afterOutcome(outcome: AnswerOutcome, action: string): CardState {
  switch (outcome.kind) {
    case "answered":
      return { kind: "answered", action, answeredAt: outcome.answeredAt };
    case "already-answered":
      return { kind: "elsewhere", by: outcome.by, answeredAt: outcome.answeredAt };
    case "over":
      return { kind: "over", reason: "withdrawn" };
    case "invalid":
      return { kind: "invalid", field: outcome.field, message: outcome.message };
    case "refused":
    case "failed":
      return { kind: outcome.kind, message: outcome.message };
  }
}
