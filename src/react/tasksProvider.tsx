/** Owns the store's life in a page (where it makes the store itself) and hands it down with texts and the host's answers. No markup. */
import { useMemo, type ReactElement, type ReactNode } from "react";
import { systemClock, type Clock } from "../internal/clock.js";
import type { TasksStore } from "../approvals/storeTypes.js";
import { TasksContext, type ReviewHandlers } from "./context.js";
import { defaultLabels } from "./labels.js";
import type { Labels } from "./labelTypes.js";
import { useOwnStore } from "./useOwnStore.js";
import type { StoreHeaders, TasksStoreOptions } from "../approvals/tasksStore.js";

/** What both kinds of providers take. */
export interface TasksProviderBase extends ReviewHandlers {
  /** Texts that replace the English ones. */
  readonly labels?: Partial<Labels> | undefined;
  /** Time, for what ticks. Default: the machine's. */
  readonly clock?: Clock | undefined;
  readonly children?: ReactNode;
}

/** A store of the host's own, which the host closes; or the handler's URL, and the provider makes and closes the store. */
export type TasksProviderProps = TasksProviderBase &
  (
    | { readonly store: TasksStore; readonly url?: undefined; readonly options?: undefined }
    | {
        readonly store?: undefined;
        readonly url: string | URL;
        readonly headers?: StoreHeaders;
        readonly options?: TasksStoreOptions;
      }
  );

/**
 * Gives everything below it the tasks of one person. With `url` the store is made once, opens one stream when
 * something reads it, and is closed when the provider goes. `headers` are read anew for each request, `options` when the store is made.
 */
export function TasksProvider(props: TasksProviderProps): ReactElement {
  const { store, ...rest } = props;
  return store === undefined ? (
    <OwnStoreProvider {...(rest as OwnProps)} />
  ) : (
    <Handed {...rest} store={store} />
  );
}

type OwnProps = Extract<TasksProviderProps, { readonly store?: undefined }>;

function OwnStoreProvider({ url, headers, options, ...rest }: OwnProps): ReactElement {
  const store = useOwnStore(String(url), { ...options, ...(headers === undefined ? {} : { headers }) });
  return <Handed {...rest} store={store} />;
}

function Handed(props: TasksProviderBase & { readonly store: TasksStore }): ReactElement {
  const { store, labels, clock = systemClock, onSample, onRoots, children } = props;
  const texts = useMemo(() => ({ ...defaultLabels, ...labels }), [labels]);
  const value = useMemo(
    () => ({ store, clock, labels: texts, onSample, onRoots }),
    [store, clock, texts, onSample, onRoots],
  );
  return <TasksContext.Provider value={value}>{children}</TasksContext.Provider>;
}
