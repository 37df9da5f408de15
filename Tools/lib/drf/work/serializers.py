"""What of users, projects and items goes over the wire."""

from django.contrib.auth.models import Group, User
from rest_framework import serializers

from work.models import Item, Project


class UserSerializer(serializers.ModelSerializer):
    trial = serializers.BooleanField(write_only=True, default=False)

    class Meta:
        model = User
        fields = ["id", "username", "password", "trial"]
        extra_kwargs = {"password": {"write_only": True}}

    def create(self, validated_data):
        is_trial = validated_data.pop("trial")
        user = User.objects.create_user(**validated_data)
        if is_trial:
            user.groups.add(Group.objects.get_or_create(name="trial")[0])
        return user


class ProjectSerializer(serializers.ModelSerializer):
    class Meta:
        model = Project
        fields = ["id", "name", "members", "created_at", "updated_at"]


class ItemSerializer(serializers.ModelSerializer):
    class Meta:
        model = Item
        fields = [
            "id",
            "project",
            "title",
            "notes",
            "done",
            "price",
            "starts_at",
            "ends_at",
            "created_at",
            "updated_at",
            "deleted_at",
        ]
        read_only_fields = ["deleted_at"]

    def validate(self, data):
        starts_at, ends_at = (
            data.get(name, getattr(self.instance, name, None)) for name in ["starts_at", "ends_at"]
        )
        if starts_at and ends_at and ends_at < starts_at:
            raise serializers.ValidationError("The end must be after the start.")
        return data
