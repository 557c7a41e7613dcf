import {App} from '@capacitor/app';
import {AppLauncher} from '@capacitor/app-launcher';
import {Capacitor} from '@capacitor/core';
import {Preferences} from '@capacitor/preferences';
import {CheckoutSession, isNewLink} from 'checkout-session';

const storage = {
  getItem: async key => (await Preferences.get({key})).value,
  setItem: (key, value) => Preferences.set({key, value}),
};
const platform = Capacitor.getPlatform(); // 'ios' or 'android': the relay's apps

/** @param userId the id that the Purchasely SDK has now. Call `end()` of the session before you create another one. */
export async function startShop(userId, show) {
  const session = new CheckoutSession({
    host: 'pay.example.com', browserHost: 'back.pay.example.com', app: platform, scheme: 'exampleapp',
    headers: {'X-API-KEY': 'the app’s client key'}, pages: {price_1MbK: 'https://buy.stripe.com/example'}, userId,
    attributes: () => ({original_platform: platform.toUpperCase()}), storage,
    openPage: url => AppLauncher.openUrl({url}), // the browser, which opens the app from the return page
    reloadEntitlements: async user => (await fetch(`https://api.example.com/users/${user}/entitlements`)).ok,
  });
  session.onChange = () => show(session.state, session.claim);
  const launch = await App.getLaunchUrl();
  if (launch && (await isNewLink(launch.url, storage))) session.open(launch.url);
  App.addListener('appUrlOpen', ({url}) => session.open(url));
  App.addListener('appStateChange', ({isActive}) => session.setActive(isActive));
  session.setActive(true);
  return session;
}
