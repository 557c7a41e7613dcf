// For a build of the kit without an app, such as `gradle publishToMavenLocal`, with Gradle 9.1 or later. An app's settings
// include the folder instead.

pluginManagement {
  repositories {
    google()
    mavenCentral()
    gradlePluginPortal()
  }
  plugins {
    id("com.android.library") version "9.0.1"
  }
}

dependencyResolutionManagement {
  repositories {
    google()
    mavenCentral()
  }
}

rootProject.name = "checkout-kit"
