// The types of index.js. types.test.ts uses each.

export type CheckoutState =
  | 'none' | 'opening' | 'notOpened' | 'inBrowser' | 'checking' | 'unchecked' | 'pending' | 'processing'
  | 'activating' | 'confirmed' | 'notPaid' | 'late' | 'unknown';

export type ClaimState =
  | 'none' | 'signIn' | 'ask' | 'adding' | 'added' | 'later' | 'otherUser' | 'expired' | 'unknown';

export type ClaimResult = 'claimed' | 'replay' | 'otherUser' | 'expired' | 'unknown' | 'retryLater';

export type Progress = 'pending' | 'processing' | 'processed' | 'unpaid' | 'expired' | 'unknown';

/** A recurring price, or a one-time price. */
export type StripeObjectType = 'subscription' | 'checkout_session';

export interface CheckoutStorage {
  getItem(key: string): Promise<string | null>;
  setItem(key: string, value: string): Promise<unknown>;
}

export interface RelayConfiguration {
  /** The relay's host, which opens the app. */
  host: string;
  /** The app's name at the relay. */
  app: string;
  /** The client key or the user's token. A function is called before each post, and can renew the token. */
  headers: Record<string, string> | (() => Record<string, string> | Promise<Record<string, string>>);
  /** The page of each price, as `links.checkout` in the relay's configuration. */
  pages: Record<string, string>;
  storage: CheckoutStorage;
}

export interface SessionConfiguration extends RelayConfiguration {
  /** Another name of the relay's host, which does not open the app. */
  browserHost: string;
  /** The app's URL scheme. */
  scheme: string;
  /** The id in the Purchasely SDK. */
  userId: string;
  /** Whether it is the SDK's own id, for which claims wait. */
  isAnonymous?: boolean;
  /** Purchasely's built-in attributes and `original_platform`; without them, the context's own members. */
  attributes(): Record<string, unknown> | Promise<Record<string, unknown>>;
  /** Opens the browser. */
  openPage(url: string): unknown;
  /** Asks the app's backend, and returns whether the purchase is there. */
  reloadEntitlements(userId: string): Promise<boolean> | boolean;
}

/** The checkouts of one user, for the app's screen. */
export class CheckoutSession {
  constructor(configuration: SessionConfiguration);
  /** Only `confirmed` is unlocked. */
  readonly state: CheckoutState;
  /** Ask the customer at `ask` and `later`. */
  readonly claim: ClaimState;
  readonly checkouts: Checkouts;
  onChange: () => void;
  /** The paywall's button was tapped. */
  buy(plan: string, type?: StripeObjectType): Promise<void>;
  /** A link opened the app; false for a link that is not the session's. */
  open(url: string): boolean;
  /** The app came to the front, or left it. */
  setActive(isActive: boolean): Promise<void>;
  /** Follows a checkout to its end; null is the one that began last. */
  check(id: string | null): Promise<void>;
  addPurchase(): Promise<void>;
  declinePurchase(): Promise<void>;
  /** The user has changed: create another session. */
  end(): void;
}

export interface BegunCheckout {
  contextId: string;
  /** The page to open. */
  page: string;
  /** Whether the relay has the context. */
  isPosted: boolean;
}

/** The checkouts that are not over. */
export class Checkouts {
  constructor(configuration: RelayConfiguration);
  ids(userId: string, isExpired?: boolean): Promise<string[]>;
  begin(context: {stripe_price_id: string; [name: string]: unknown}, userId: string): Promise<BegunCheckout>;
  /** Posts what the relay does not have yet. */
  postPending(): Promise<void>;
  progress(id: string, wait?: number): Promise<Progress>;
  claim(token: string, userId: string): Promise<ClaimResult>;
  discard(id: string): Promise<unknown>;
  /** For a user who deletes the account. */
  forget(userId: string): Promise<unknown>;
}

export type Link =
  | {plan: string} | {checkout: string | null; orderToken?: string} | {claim: string} | {page: string};

export function readLink(
  url: string, place: Pick<SessionConfiguration, 'host' | 'app' | 'scheme' | 'browserHost'>
): Link | null;

/** A page of the app's own storefront; null for another host. */
export function storefrontPage(
  url: string, hosts: string[]
): {route: 'checkout' | 'cart' | 'browser'; isConfirmationPage: boolean} | null;

/** Whether the link that started the app is another one than the last time. */
export function isNewLink(url: string | null | undefined, storage: CheckoutStorage): Promise<boolean>;
