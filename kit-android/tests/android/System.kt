// As App.kt.

@file:Suppress("UNUSED_PARAMETER")

package android.os

class Bundle

class Looper {
  companion object {
    fun getMainLooper() = Looper()
  }
}

open class Handler(looper: Looper) {
  fun post(body: Runnable): Boolean = true
}
