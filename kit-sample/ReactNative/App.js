import AsyncStorage from '@react-native-async-storage/async-storage';
import 'react-native-get-random-values'; // gives React Native crypto.getRandomValues
import React, {useEffect, useMemo, useState} from 'react';
import {AppState, Button, Linking, Platform, Text, View} from 'react-native';
import {CheckoutSession, isNewLink} from 'checkout-session';

const texts = {
  none: '',
  opening: 'Opening the checkout.',
  notOpened: 'The checkout cannot be opened. Check your connection and try again.',
  inBrowser: 'Finish paying in your browser, then come back here.',
  checking: 'Looking for your payment.',
  unchecked: 'We could not check your payment yet. If you have paid, do not pay again.',
  pending: 'We have not received a payment yet.',
  processing: 'Thank you! Your order is complete and is being processed. Do not pay again.',
  activating: 'Thank you! We are activating your purchase.',
  confirmed: 'Thank you! Your purchase is active.',
  notPaid: 'We received no payment, so nothing was bought.',
  late: 'We received no payment in time. A later payment still counts.',
  unknown: 'We do not know this checkout any more. If you have paid, please contact our support.',
};

const claims = {
  none: '',
  signIn: 'Sign in to add this purchase to your account.',
  ask: 'Add this purchase to your account?',
  adding: 'Adding the purchase to your account.',
  added: 'The purchase is in your account now.',
  later: 'The purchase could not be added yet. Try again?',
  otherUser: 'This purchase belongs to another account.',
  expired: 'This link is no longer valid. Please contact our support.',
  unknown: 'This link is not valid. Please use the newest one that you got.',
};

const makeSession = userId => new CheckoutSession({
  host: 'pay.example.com', browserHost: 'back.pay.example.com', app: Platform.OS, scheme: 'exampleapp',
  headers: {'X-API-KEY': 'the app’s client key'}, pages: {price_1MbK: 'https://buy.stripe.com/example'}, userId,
  // With the paywall: async () => ({
  //   ...await Purchasely.getBuiltInAttributes().catch(() => ({})), original_platform: …}).
  attributes: () => ({original_platform: Platform.OS === 'ios' ? 'IOS' : 'ANDROID'}),
  storage: AsyncStorage, openPage: url => Linking.openURL(url),
  reloadEntitlements: async user => (await fetch(`https://api.example.com/users/${user}/entitlements`)).ok,
});

export default function App() {
  // The id that the Purchasely SDK has now: the account's, or the anonymous one. Another user gets another session.
  const [userId] = useState('jdo-1');
  return <Shop key={userId} userId={userId} />;
}

function Shop({userId}) {
  const session = useMemo(() => makeSession(userId), [userId]);
  const [{state, claim}, show] = useState({state: session.state, claim: session.claim});
  useEffect(() => {
    session.onChange = () => show({state: session.state, claim: session.claim});
    Linking.getInitialURL().then(async url => {
      if (await isNewLink(url, AsyncStorage)) session.open(url);
    });
    const links = Linking.addEventListener('url', ({url}) => session.open(url));
    const states = AppState.addEventListener('change', now => session.setActive(now === 'active'));
    session.setActive(true); // After the end of the process, too.
    return () => {
      links.remove();
      states.remove();
      session.end();
    };
  }, [session]);
  return (
    <View>
      <Text>{texts[state]}</Text>
      <Button title="Buy" onPress={() => session.buy('price_1MbK')} />
      <Text>{claims[claim]}</Text>
      {['ask', 'later'].includes(claim) && <Button title="Add the purchase" onPress={() => session.addPurchase()} />}
      {['ask', 'later'].includes(claim) && <Button title="Not now" onPress={() => session.declinePurchase()} />}
    </View>
  );
}
