// The signatures of Android that the sample uses, from its reference, to check the sample's types. They do nothing.

@file:Suppress("UNUSED_PARAMETER")

package android.app

import android.content.Context
import android.content.Intent
import android.os.Bundle
import android.view.View

open class Application : Context() {
  open fun onCreate() {}
}

open class Activity : Context() {
  val application: Application get() = throw UnsupportedOperationException()
  private var current = Intent()

  // In Java a getter and a setter; Kotlin reads the getter as a property.
  @get:JvmName("getIntent") val intent: Intent get() = current

  fun setIntent(intent: Intent) {
    current = intent
  }

  open fun onCreate(savedInstanceState: Bundle?) {}
  open fun onNewIntent(intent: Intent) {}
  open fun onResume() {}
  open fun onPause() {}
  fun setContentView(view: View) {}
  fun startActivity(intent: Intent) {}
  fun finish() {}
}

open class Service : Context() {
  val application: Application get() = throw UnsupportedOperationException()
}
